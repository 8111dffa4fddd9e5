import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../domain/errors.js';
import { RejectedValue, STATEMENT_FAILURES, translateDatabaseError } from './database-errors.js';

describe('a micro-batch that is one statement', () => {
  it.each([
    ['the database rejects a value', new RejectedValue('no'), true],
    ['the caller named something that does not exist', new AppError('invalid_request'), true],
    ['the database is unreachable', new AppError('unavailable'), false],
    ['the statement is wrong', new Error('syntax error'), false],
  ])('is divided if %s: %#', (_name, error, isDivided) => {
    expect(STATEMENT_FAILURES.isFaultOfOneItem(error)).toBe(isDivided);
  });

  it.each(['22021', '23514', '54000'])('is divided if its SQLSTATE %s is of one value', (code) => {
    const error = translateDatabaseError(Object.assign(new Error('no'), { code }));
    expect(STATEMENT_FAILURES.isFaultOfOneItem(error)).toBe(true);
  });

  it('rejects with 503 when too many items wait', () => {
    expect(STATEMENT_FAILURES.overflow()).toMatchObject({
      code: 'unavailable',
      headers: { 'Retry-After': '1' },
    });
  });
});
