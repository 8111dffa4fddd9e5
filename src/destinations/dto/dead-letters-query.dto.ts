// The query of GET /observability/destinations/{id}/dead-letters, and the cursor of its pages.
// Contract: docs/contract.md#delivery-operations.
import { AppError } from '../../domain/errors.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { TextField } from '../../http/fields/scalar-fields.js';
import type { DeadLetterCursor } from '../../persistence/deliveries/dead-letters.repository.js';

const CURSOR = /^(\d{1,15})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

export class DeadLettersQueryDto extends PageQueryDto {
  @TextField({
    optional: true,
    hiddenMaxLength: 200,
    description:
      'The `next_cursor` of the previous page. Continues behind it, regardless of later dead letters. Replaces `offset`.',
  })
  cursor?: string;
}

export function writeCursor({ createdAt, generationId }: DeadLetterCursor): string {
  return Buffer.from(`${createdAt.getTime()}.${generationId}`).toString('base64url');
}

/** Throws `invalid_request` for a cursor that no page returned. */
export function readCursor(cursor: string): DeadLetterCursor {
  const [, time, generationId] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (time === undefined || generationId === undefined) {
    throw new AppError('invalid_request', { detail: 'cursor: must be the next_cursor of a page' });
  }
  return { createdAt: new Date(Number(time)), generationId };
}
