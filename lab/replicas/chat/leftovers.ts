// Parts of chat calls that outlive them: streams, drains, permits, connections to the provider, reservations.
import type { Lab } from '../lab.js';
import type { LoadReport } from '../load-report.js';
import { reservedBy } from '../../faults/money.js';
import { check } from '../scenario.js';
import type { ScenarioResult } from '../scenario.js';
import { readMetric } from '../watch.js';

const GAUGES = [
  'signalbox_chat_open_streams',
  'signalbox_chat_open_drains',
  'signalbox_http_in_flight{group="chats"}',
];
const CALM_TIMEOUT_MS = 20_000;
const BETWEEN_LOOKS_MS = 50;
// Twice the life of a lease.
const EXPIRY_TIMEOUT_MS = 60_000;

/** Resolves with all that is still held when no call is in flight any more; empty: nothing. */
export async function untilCalm(lab: Lab): Promise<string[]> {
  const deadline = performance.now() + CALM_TIMEOUT_MS;
  for (;;) {
    const held = lab.chats.open === 0 ? [] : [`the provider has ${lab.chats.open} open answers`];
    for (const replica of lab.replicas)
      for (const gauge of GAUGES) {
        const value = await readMetric(lab, gauge, replica);
        if (value !== 0) held.push(`${gauge} is ${value}`);
      }
    if (held.length === 0 || performance.now() > deadline) return held;
    await lab.wait(BETWEEN_LOOKS_MS);
  }
}

/**
 * As check(). Then it ends the replicas, which release all that is reserved. The leases of lost processes and of uncertain
 * commits expire: a new process releases those.
 */
export async function checkChats(
  lab: Lab,
  reports: readonly LoadReport[],
  own: { readonly remarks?: readonly string[]; readonly problems?: readonly string[] } = {},
): Promise<ScenarioResult> {
  const held = await untilCalm(lab);
  const result = await check(lab, reports, own);
  const problems = [...result.problems, ...held];
  for (const replica of lab.replicas) replica.signal('SIGTERM');
  for (const replica of lab.replicas) {
    const code = await replica.ended;
    if (code !== 0) problems.push(`a replica ended with ${code}`);
  }
  const reserved = await untilReleased(lab);
  if (reserved !== 0) problems.push(`${reserved} USD are still reserved after the expiry of all leases`);
  return { ...result, problems };
}

/** USD that are reserved although no call is in flight. */
async function untilReleased(lab: Lab): Promise<number> {
  if ((await reservedBy(lab)) === 0) return 0;
  lab.replicas.splice(0, lab.replicas.length, await lab.startReplica());
  const deadline = performance.now() + EXPIRY_TIMEOUT_MS;
  for (;;) {
    const reserved = await reservedBy(lab);
    if (reserved === 0 || performance.now() > deadline) return reserved;
    await lab.wait(BETWEEN_LOOKS_MS);
  }
}
