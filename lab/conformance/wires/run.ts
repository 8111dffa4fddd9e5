// Runs all checks of the wires on one gateway, pair by pair.
import { WIRE_PROVIDER_NAMES } from '../../../test/support/wires/wire-stubs.js';
import type { WireStubs } from '../../../test/support/wires/wire-stubs.js';
import { NotOffered } from '../gateway.js';
import { outcomeOf } from '../run-checks.js';
import type { Labelled, Outcome, Outcomes } from '../run-checks.js';
import type { Suite } from '../table.js';
import type { Pair, WireCheck, WireGateway } from './check.js';
import { WIRE_CHECKS } from './checks.js';
import { askIn, CLIENT_WIRES, countTokens, leaveIn } from './clients.js';

const PAIRS: readonly Pair[] = CLIENT_WIRES.flatMap((client) =>
  WIRE_PROVIDER_NAMES.map((provider) => ({ label: `${client} > ${provider}`, client, provider })),
);

export const WIRES_SUITE: Suite = {
  title: 'Wires',
  rows: PAIRS,
  sections: [['clients and providers of every wire', WIRE_CHECKS]],
};

export async function runWireChecks(
  gateway: WireGateway,
  stubs: WireStubs,
  signal: AbortSignal,
): Promise<Outcomes> {
  const outcomes = new Map<WireCheck, ReadonlyMap<Labelled, Outcome>>();
  for (const check of WIRE_CHECKS) {
    const byPair = new Map<Labelled, Outcome>();
    for (const pair of PAIRS) {
      signal.throwIfAborted();
      byPair.set(pair, await runTrial(check, gateway, pair, stubs, signal));
    }
    outcomes.set(check, byPair);
  }
  return outcomes;
}

async function runTrial(
  check: WireCheck,
  gateway: WireGateway,
  pair: Pair,
  stubs: WireStubs,
  signal: AbortSignal,
): Promise<Outcome> {
  if (check.applies && !check.applies(pair)) return { kind: 'nothing' };
  if (gateway.notOffered.has(check.head)) return { kind: 'not offered' };
  return outcomeOf(() => {
    const target = gateway.targetOf(pair.provider, pair.client);
    return check.run({
      ...pair,
      stubs,
      ask: async (call = {}) => {
        const read = await askIn(pair.client, target, call, signal);
        if (gateway.isNotOffered(read)) throw new NotOffered();
        return read;
      },
      leaveAfter: async (text) => {
        const read = await leaveIn(pair.client, target, text);
        if (gateway.isNotOffered({ text: read })) throw new NotOffered();
        if (!read.includes(text)) throw new Error(`the stream ended without ${text}: ${read.slice(0, 200)}`);
      },
      countTokens: () => countTokens(target, signal),
    });
  });
}
