// Runs all checks on one gateway and collects the results by provider and check.
import type { EveryProvider } from '../../test/support/routing/every-provider.js';
import { PROVIDER_ROWS, rowLabelled } from '../../test/support/providers/rows.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';
import { ANSWER_CHECKS } from './answer-checks.js';
import type { Check, Trial } from './check.js';
import { FAILURE_CHECKS } from './failure-checks.js';
import type { Problem } from './assert-answer.js';
import { NotOffered } from './gateway.js';
import type { Gateway } from './gateway.js';

export type Outcome =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly reason: string }
  /** The gateway does not claim this feature. */
  | { readonly kind: 'not offered' }
  /** The check does not apply to this provider. */
  | { readonly kind: 'nothing' };

/** A column and a row of a table. */
export interface Column {
  readonly head: string;
  readonly promise: string;
}
export interface Labelled {
  readonly label: string;
}

/** By column, then by row. */
export type Outcomes = ReadonlyMap<Column, ReadonlyMap<Labelled, Outcome>>;

export async function runChecks(
  gateway: Gateway,
  providers: EveryProvider,
  signal: AbortSignal,
): Promise<Outcomes> {
  const outcomes = new Map<Check, ReadonlyMap<ProviderRow, Outcome>>();
  for (const check of [...ANSWER_CHECKS, ...FAILURE_CHECKS]) {
    outcomes.set(check, await runCheck(check, gateway, providers, signal));
  }
  return outcomes;
}

async function runCheck(
  check: Check,
  gateway: Gateway,
  providers: EveryProvider,
  signal: AbortSignal,
): Promise<ReadonlyMap<ProviderRow, Outcome>> {
  const outcomes = new Map<ProviderRow, Outcome>();
  const runRows = async (rows: readonly ProviderRow[]): Promise<void> => {
    for (const row of rows) {
      signal.throwIfAborted();
      outcomes.set(row, await runTrial(check, gateway, trialOf(row, gateway, providers)));
    }
  };
  // Rows of one provider share its stub, and with it the stub's configured answer.
  const stubs = [...new Set(PROVIDER_ROWS.map(({ stub }) => stub))];
  const groups = stubs.map((stub) => PROVIDER_ROWS.filter((row) => row.stub === stub));
  await Promise.all((check.waits ? groups : [PROVIDER_ROWS]).map(runRows));
  return outcomes;
}

async function runTrial(check: Check, gateway: Gateway, trial: Trial): Promise<Outcome> {
  if (check.applies && !check.applies(trial.row)) return { kind: 'nothing' };
  if (gateway.notOffered.has(check.head)) return { kind: 'not offered' };
  return outcomeOf(() => check.run(trial));
}

export async function outcomeOf(run: () => Promise<Problem>): Promise<Outcome> {
  try {
    const reason = await run();
    return reason === null ? { kind: 'right' } : { kind: 'wrong', reason };
  } catch (error) {
    if (error instanceof NotOffered) return { kind: 'not offered' };
    return { kind: 'wrong', reason: `no answer: ${String(error)}` };
  }
}

function trialOf(row: ProviderRow, gateway: Gateway, providers: EveryProvider): Trial {
  return {
    row,
    stub: providers.stubOf(row),
    next: row.sameVectorsAt === null ? null : providers.stubOf(rowLabelled(row.sameVectorsAt)),
    ask: (body, options) => gateway.ask(row, { ...row.needs, ...body }, options),
    askPlainly: (body) => gateway.ask(row, body),
  };
}
