import { describe, expect, it, jest } from '@jest/globals';
import { joinQueries } from './joined-queries';

const query = (data: unknown, error: Error | null) => ({
  data,
  error,
  refetch: jest.fn<() => Promise<never>>(),
});

describe('joined queries', () => {
  it('have no error while all of them have data, although the last load of one has failed', () => {
    expect(joinQueries(query(1, null), query(0, new Error('poll'))).error).toBeNull();
  });

  it('have the error of one without data, whichever it is', () => {
    const broken = new Error('broken');
    expect(joinQueries(query(1, new Error('poll')), query(undefined, broken)).error).toBe(broken);
  });

  it('have no error while one loads', () => {
    expect(joinQueries(query(1, null), query(undefined, null)).error).toBeNull();
  });

  it('repeat all that have failed, and no others', () => {
    const [loaded, first, second] = [
      query(1, null),
      query(undefined, new Error('first')),
      query(2, new Error('second')),
    ];
    joinQueries(loaded, first, second).retry();
    expect([loaded, first, second].map(({ refetch }) => refetch.mock.calls.length)).toEqual([0, 1, 1]);
  });
});
