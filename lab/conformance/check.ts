// One column of the conformance table, and the context of a check.
import type { RunningProviderStub } from '../../test/support/providers/provider-stub.js';
import type { Members } from '../../test/support/providers/conformance-row.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';
import type { Answer, CallOptions } from './gateway.js';
import type { Problem } from './assert-answer.js';

export interface Trial {
  readonly row: ProviderRow;
  readonly stub: RunningProviderStub;
  /** The stub of the provider with the same vectors. */
  readonly next: RunningProviderStub | null;
  /** Includes the members that this provider requires; the given ones override them. */
  readonly ask: (body: Members, options?: CallOptions) => Promise<Answer>;
  /** The request of a client that knows nothing about providers. */
  readonly askPlainly: (body: Members) => Promise<Answer>;
}

export interface Check {
  /** The head of the column. */
  readonly head: string;
  readonly promise: string;
  /** Whether the check applies to this provider; absent: always. */
  readonly applies?: (row: ProviderRow) => boolean;
  /** A check that mostly waits; such checks run for all providers at once. */
  readonly waits?: true;
  run(trial: Trial): Promise<Problem>;
}

// Most checks send one text: lists have columns of their own.
export const TEXT = 'three more words';
export const TEXTS: readonly string[] = ['one', 'two words', TEXT];

/** The first problem. */
export async function firstWrong(
  ...assertions: readonly (() => Problem | Promise<Problem>)[]
): Promise<Problem> {
  for (const assertion of assertions) {
    const problem = await assertion();
    if (problem !== null) return problem;
  }
  return null;
}
