import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { FREE_MODEL, objectOfMembers } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

// Milliseconds. The rule is 50 for one body; the rest is the machine.
const TOLERATED_MS = 120;
const TIMEOUT_MS = 12_000;
const TOTAL_MS = 25_000;

interface Bomb {
  readonly name: string;
  readonly path: string;
  readonly key: 'management' | 'inference';
  readonly body: string;
}

/** Bodies of about 1 MB that are expensive to walk. */
export function memberBombs(): readonly Bomb[] {
  const call = `"model":"${FREE_MODEL}","input":"bomb","dimensions":8`;
  const unknown = objectOfMembers(90_000).slice(1);
  return [
    {
      name: '90,000 unknown members',
      path: '/observability/destinations',
      key: 'management',
      body: `{${unknown}`,
    },
    { name: '90,000 members of a call', path: '/embeddings', key: 'inference', body: `{${call},${unknown}` },
    {
      name: '60,000 members of provider',
      path: '/embeddings',
      key: 'inference',
      body: `{${call},"provider":${objectOfMembers(60_000)}}`,
    },
    {
      name: '100,000 names in provider.only',
      path: '/embeddings',
      key: 'inference',
      body: `{${call},"provider":{"only":[${'"a",'.repeat(99_999)}"a"]}}`,
    },
    {
      name: '60,000 members of trace',
      path: '/embeddings',
      key: 'inference',
      body: `{${call},"trace":${objectOfMembers(60_000)}}`,
    },
    {
      name: '60,000 filter groups',
      path: '/observability/destinations',
      key: 'management',
      body: `{"type":"webhook","name":"x","config":{"url":"https://example.com"},"filter_rules":{"groups":[${'{"rules":[]},'.repeat(59_999)}{"rules":[]}]}}`,
    },
  ];
}

export const members: Experiment = {
  name: 'members',
  title:
    'Bodies of at most 1 MB with tens of thousands of members. None holds the event loop for more than 50 ms.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `members_${label}`, root }, async (lab) => {
      const figures: Record<string, string> = {};
      const problems: string[] = [];
      const { managementKey, apiKey } = lab.attacker;
      const deadline = performance.now() + TOTAL_MS;
      for (const { name, path, key, body } of memberBombs()) {
        const bearer = key === 'management' ? managementKey : apiKey;
        // The first of its kind compiles what reads it.
        await lab.call('POST', path, { key: bearer, body: '{}' });
        const probe = await lab.probe();
        const { status, milliseconds: took } = await lab.call('POST', path, {
          key: bearer,
          body,
          timeout: TIMEOUT_MS,
        });
        // The answer to the last probe comes when the loop is free again.
        const { longest = 0 } = await probe.stop();
        figures[name] =
          `${status === 0 ? 'no answer' : status} after ${milliseconds(took)}, event loop held for ${milliseconds(longest)}`;
        problems.push(
          ...brokenRules([
            longest > TOLERATED_MS,
            `${name}: the event loop was held for ${milliseconds(longest)}`,
          ]),
        );
        if (performance.now() > deadline) break;
        // A request without a response in time may still hold the loop.
        if (status === 0) await lab.call('GET', '/key', { key: apiKey, timeout: TIMEOUT_MS });
      }
      return { figures, problems };
    }),
};
