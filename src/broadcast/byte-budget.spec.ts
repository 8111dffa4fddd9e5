// Who waits for bytes, and who does not.
import { describe, expect, it } from '@jest/globals';
import { ByteBudget } from './byte-budget.js';

/** Which of these takes are served, once nothing is left to be done at once. */
async function servedOf(takes: readonly Promise<unknown>[]): Promise<readonly boolean[]> {
  const served = takes.map(() => false);
  for (const [index, take] of takes.entries()) void take.then(() => (served[index] = true));
  await new Promise((resolve) => setImmediate(resolve));
  return served;
}

describe('a budget of bytes', () => {
  it('lets those who need more than is left wait in turn, and those who need nothing pass', async () => {
    const budget = new ByteBudget(10);
    const giveBack = await budget.take(8);
    const takes = [budget.take(5), budget.take(1), budget.take(0)];
    expect(await servedOf(takes)).toEqual([false, false, true]);
    giveBack();
    expect(await servedOf(takes)).toEqual([true, true, true]);
  });

  it('counts more than all of it as all of it, and what is given back once', async () => {
    const budget = new ByteBudget(10);
    const giveBack = await budget.take(1_000);
    giveBack();
    giveBack();
    expect(await servedOf([budget.take(10), budget.take(1)])).toEqual([true, false]);
  });
});
