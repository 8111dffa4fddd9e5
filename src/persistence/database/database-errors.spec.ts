import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../domain/errors.js';
import { RejectedValue, STATEMENT_FAILURES } from './database-errors.js';

describe('a micro-batch that is one statement', () => {
  it.each([
    ['the database rejects a value', new RejectedValue('no'), true],
    ['the caller named something wrongly', new AppError('invalid_request'), true],
    ['the database is away', new AppError('unavailable'), false],
    ['the statement is wrong', new Error('syntax error'), false],
  ])('is divided where %s: %#', (_name, error, isDivided) => {
    expect(STATEMENT_FAILURES.isFaultOfOneItem(error)).toBe(isDivided);
  });

  it('rejects with 503 what would wait behind too many', () => {
    expect(STATEMENT_FAILURES.overflow()).toMatchObject({
      code: 'unavailable',
      headers: { 'Retry-After': '1' },
    });
  });
});
