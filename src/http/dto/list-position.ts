// Cursors of lists that are ordered by a moment and an id: opaque to callers.
import { AppError } from '../../domain/errors.js';

const CURSOR = /^(\d{1,15})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

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
