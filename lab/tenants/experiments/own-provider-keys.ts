import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, embed, FIVE_TOKENS, statusesIn, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

const WANTED = 300;
const INPUTS = 10_000;
// Provider calls of one call, with some retries of the last endpoint.
const MOST_PROVIDER_CALLS = 10;
const TOLERATED_MS = 250;
const MOST_KEYS = 20;

export const ownProviderKeys: Experiment = {
  name: 'own-provider-keys',
  title:
    `${WANTED} provider keys of its own, all of which the provider refuses. A workspace may have ${MOST_KEYS} for a provider, ` +
    'a call tries a few of them, and its bounds are computed once.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `own_keys_${label}`, root }, async (lab) => {
      const creation = await lab.attack('storm', {
        requests: Array.from({ length: WANTED }, (_value, index) => ({
          method: 'POST' as const,
          path: '/byok',
          key: 'management' as const,
          body: JSON.stringify({ provider: 'openai', key: `sk-own-${index}-0123456789abcdef` }),
        })),
        clients: 4,
        most: WANTED,
        pause: 0,
        timeout: 10_000,
      });
      const created = await creation.finished;
      const { key } = await createKey(
        lab,
        { limit: 100, include_byok_in_limit: true },
        lab.attacker.managementKey,
      );
      const before = lab.upstream.requests.length;
      const one = await embed(lab, key, { input: FIVE_TOKENS }, { timeout: 20_000 });
      const asked = lab.upstream.requests.length - before;
      const probe = await lab.probe();
      const input = Array.from({ length: INPUTS }, () => FIVE_TOKENS);
      const large = await embed(lab, key, { input, dimensions: 1 }, { timeout: 15_000 });
      const { longest = 0 } = await probe.stop();
      const accepted = created['status 201'] ?? 0;
      return {
        figures: {
          'own keys wanted, kept': `${WANTED}, ${accepted}`,
          'answers to their creation': statusesIn(created),
          'requests to the provider for one call': `${asked}`,
          'answers to one call, to one of 10,000 inputs': `${statusesOf([one])}; ${statusesOf([large])}`,
          'event loop held, at most': milliseconds(longest),
        },
        problems: brokenRules(
          [accepted > MOST_KEYS, `${accepted} own keys were kept`],
          [asked > MOST_PROVIDER_CALLS, `one call asked the provider ${asked} times`],
          [longest > TOLERATED_MS, `the event loop was held for ${milliseconds(longest)}`],
        ),
      };
    }),
};
