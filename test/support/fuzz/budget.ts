// How much the fuzz tests try, from which seed, and what they say about it: little and always the same within `npm run test:all`,
// much and ever new in `npm run lab -- fuzz`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from '../fast-check.js';
import { createRandom } from '../random.js';

const COUNT = Number(process.env['SIGNALBOX_FUZZ_COUNT'] ?? 300);
const SEED = Number(process.env['SIGNALBOX_FUZZ_SEED'] ?? 20_261_121);
// Milliseconds. A thousand times what an answer takes, so that only a hang reaches it.
export const DEADLINE = 60_000;
// Milliseconds for one property: a run whose every request is slow ends as well.
const TIMEOUT = 600_000;

/** A part of all requests, at least a few. */
export function share(part: number): number {
  return Math.max(3, Math.round(COUNT * part));
}

/** Tries a property `runs` times; a failure says how to see it again. */
export async function tryOut<Ts>(
  name: string,
  runs: number,
  property: fc.IAsyncProperty<Ts> | fc.IProperty<Ts>,
): Promise<void> {
  const result = await fc.check(property, {
    seed: SEED,
    numRuns: runs,
    interruptAfterTimeLimit: TIMEOUT,
    markInterruptAsFailure: true,
  });
  if (!result.failed) return;
  const { errorInstance } = result;
  const reason = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  throw new Error(
    `${fc.defaultReportMessage(result)}\n\n${reason}\n\n` +
      `Again: npm run lab -- fuzz --count ${COUNT} --seed ${SEED} -t '${name}'`,
  );
}

/** Milliseconds that a test of so many runs may take at most. */
export const TEST_TIMEOUT = TIMEOUT + 60_000;

/** Numbers that are made from the seed, for events beside a property. */
export function seededRandom(): () => number {
  return createRandom(SEED);
}

/** For the closing report of `npm run lab -- fuzz`. */
export function reportCounts(name: string, counts: Readonly<Record<string, number>>): void {
  const directory = process.env['SIGNALBOX_FUZZ_REPORT'];
  if (directory === undefined) return;
  const sorted = Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other));
  const text = JSON.stringify({ name, counts: Object.fromEntries(sorted) });
  writeFileSync(join(directory, `${name.replaceAll(/\W+/g, '-')}.json`), text);
}
