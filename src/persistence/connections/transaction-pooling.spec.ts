import { describe, expect, it } from '@jest/globals';
import { sharesSessions } from './transaction-pooling.js';

/** Two connections to a pooler, each statement of which runs in the next of the given processes. */
function connections(one: readonly number[], other: readonly number[], isPooled = true) {
  const connection = (processes: readonly number[]) => {
    const statements: string[] = [];
    let next = 0;
    return {
      isPooled,
      statements,
      query: (text: string) => {
        statements.push(text);
        const rows = text.startsWith('SELECT') ? [{ id: processes[next++ % processes.length] }] : [];
        return Promise.resolve({ rows });
      },
    };
  };
  return [connection(one), connection(other)] as const;
}

const ask = ([one, other]: ReturnType<typeof connections>) => sharesSessions(one as never, other as never);

describe('sessions behind a pooler', () => {
  it.each([
    ['shared: one connection gets that of the other', [1], [1], true],
    ['shared: a connection gets another one after each transaction', [1, 2], [3], true],
    ['not shared: each connection keeps its own', [1], [2], false],
  ])('are %s', async (_name, one, other, isShared) => {
    expect(await ask(connections(one, other))).toBe(isShared);
  });

  it('are found to be shared in a later round of a busy one', async () => {
    expect(await ask(connections([1], [2, 2, 1]))).toBe(true);
  });

  it('are not queried without one', async () => {
    const [one, other] = connections([1], [1], false);
    expect(await ask([one, other])).toBe(false);
    expect([...one.statements, ...other.statements]).toEqual([]);
  });

  it('are released after the test', async () => {
    const [one, other] = connections([1], [1]);
    await ask([one, other]);
    expect(other.statements.at(-1)).toBe('ROLLBACK');
  });
});
