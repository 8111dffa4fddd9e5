// The query of GET /observability/destinations/{id}/dead-letters, and the cursor that its pages tell.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { AppError } from '../../domain/errors.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';
import type { DeadLetterCursor } from '../../persistence/deliveries/dead-letters.repository.js';

const MAX_CURSOR_LENGTH = 200;
const CURSOR = /^(\d{1,15})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

export class DeadLettersQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    description:
      'The `next_cursor` of the page before: goes on behind it, whatever has come since. Instead of `offset`.',
  })
  @IfGiven()
  @IsStorableText(MAX_CURSOR_LENGTH)
  cursor?: string;
}

export function writeCursor({ createdAt, generationId }: DeadLetterCursor): string {
  return Buffer.from(`${createdAt.getTime()}.${generationId}`).toString('base64url');
}

/** Throws `invalid_request` for what no page has told. */
export function readCursor(cursor: string): DeadLetterCursor {
  const [, time, generationId] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (time === undefined || generationId === undefined) {
    throw new AppError('invalid_request', { detail: 'cursor: must be the next_cursor of a page' });
  }
  return { createdAt: new Date(Number(time)), generationId };
}
