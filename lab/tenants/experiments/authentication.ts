import { brokenRules } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, embed, FREE_MODEL, statusesIn, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

const FAILURES = 400;
const FRESH_KEYS = 5;

export const failedAuthentication: Experiment = {
  name: 'failed-authentication',
  title:
    `${FAILURES} requests with unknown secrets come from the address of a proxy. Keys that were never used before are still ` +
    'accepted from there.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `authentication_${label}`, root }, async (lab) => {
      const fresh = [];
      for (let count = 0; count < FRESH_KEYS; count++) fresh.push(await createKey(lab, {}));
      const attack = await lab.attack('storm', {
        requests: Array.from({ length: FAILURES }, (_value, index) => ({
          method: 'GET' as const,
          path: '/key',
          key: 'none' as const,
          bearer: `sk-sb-v1-${String(index).padStart(64, '0')}`,
        })),
        clients: 4,
        most: FAILURES,
        pause: 0,
        timeout: 10_000,
      });
      const failures = await attack.finished;
      const answers = [];
      for (const { key } of fresh)
        answers.push(await embed(lab, key, { model: FREE_MODEL, input: 'a fresh key' }));
      const rejected = answers.filter(({ status }) => status !== 200).length;
      return {
        figures: { 'unknown secrets': statusesIn(failures), 'fresh valid keys': statusesOf(answers) },
        problems: brokenRules([rejected > 0, `${rejected} of ${FRESH_KEYS} valid keys were refused`]),
      };
    }),
};
