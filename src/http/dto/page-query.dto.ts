// The queries of lists, and their cursors. Contract: docs/contract.md#conventions.
import { AppError } from '../../domain/errors.js';
import { IntegerField, LimitField } from '../fields/scalar-fields.js';

export class PageQueryDto {
  @IntegerField({
    query: true,
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'Number of items to skip.',
  })
  offset = 0;

  @LimitField({ maximum: 100, default: 50, description: 'Maximum number of items to return.' })
  limit = 50;
}

/** A list without parameters: a misspelt one is rejected. */
export class EmptyQueryDto {}

const CURSOR = /^(\d{1,15})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

/** The cursor of a list that is ordered by a moment and an id: opaque to callers. */
export function writeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt.getTime()}.${id}`).toString('base64url');
}

/** Throws `invalid_request` for a cursor that no page returned. */
export function readCursor(cursor: string): Position {
  const [, time, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (time === undefined || id === undefined) {
    throw new AppError('invalid_request', { detail: 'cursor: must be the next_cursor of a page' });
  }
  return { createdAt: new Date(Number(time)), id };
}
