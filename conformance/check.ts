// One column of the conformance table, and what a check has at hand.
import type { RunningProviderStub } from '../test/support/providers/provider-stub.js';
import type { Members } from '../test/support/providers/conformance-row.js';
import type { ProviderRow } from '../test/support/providers/rows.js';
import type { Answer, CallOptions } from './gateway.js';
import type { Problem } from './assert-answer.js';

export interface Trial {
  readonly row: ProviderRow;
  readonly stub: RunningProviderStub;
  /** The stub of the provider whose vectors are the same. */
  readonly next: RunningProviderStub | null;
  /** With the members that this provider needs, under those that are given. */
  readonly ask: (body: Members, options?: CallOptions) => Promise<Answer>;
  /** As a client asks that knows nothing of providers. */
  readonly askPlainly: (body: Members) => Promise<Answer>;
}

export interface Check {
  /** Stands over the column. */
  readonly head: string;
  readonly promise: string;
  /** Whether there is anything to check for this provider; absent: always. */
  readonly applies?: (row: ProviderRow) => boolean;
  /** It spends its time waiting: the providers take it at once. */
  readonly waits?: true;
  run(trial: Trial): Promise<Problem>;
}

// Most checks ask for one text: what becomes of lists has columns of its own.
export const TEXT = 'three more words';
export const TEXTS: readonly string[] = ['one', 'two words', TEXT];

/** The first thing that is wrong. */
export async function firstWrong(
  ...assertions: readonly (() => Problem | Promise<Problem>)[]
): Promise<Problem> {
  for (const assertion of assertions) {
    const problem = await assertion();
    if (problem !== null) return problem;
  }
  return null;
}
