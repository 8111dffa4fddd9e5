import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brokenRules, usd } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, embed, FIVE_TOKENS, PRICE, spentOf, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

const PRELOAD = fileURLToPath(new URL('../../faults/shifted-clock.mjs', import.meta.url));
const AHEAD = Date.parse('2030-06-15T12:00:00Z');
// Calls that fit into the limit, and calls that are made.
const FITTING = 10;
const CALLS = 40;

export const clockAhead: Experiment = {
  name: 'clock-ahead',
  title:
    'A replica whose clock is in 2030 makes one call. Daily, weekly and monthly limits still hold afterwards.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `clock_${label}`, root }, async (lab) => {
      const limit = FITTING * 5 * PRICE;
      const resets = ['daily', 'weekly', 'monthly'] as const;
      const keys = await Promise.all(
        resets.map(async (reset) => {
          const { key, hash } = await createKey(lab, { limit, limit_reset: reset });
          return { reset, key, hash };
        }),
      );
      const file = join(context.directory, `clock-${label}`);
      await writeFile(file, String(AHEAD - Date.now()));
      const ahead = await lab.startReplica({
        root,
        preload: PRELOAD,
        environment: { FAULT_CLOCK_FILE: file },
      });
      const early = await Promise.all(
        keys.map(({ key }) =>
          lab.call('POST', '/embeddings', {
            key,
            replica: ahead,
            body: { model: 'openai/text-embedding-3-small', dimensions: 8, input: FIVE_TOKENS },
          }),
        ),
      );
      await ahead.stop();
      const figures: Record<string, string> = { 'calls as of 2030': statusesOf(early) };
      const problems: string[] = [];
      for (const { reset, key, hash } of keys) {
        const answers = [];
        for (let call = 0; call < CALLS; call++) answers.push(await embed(lab, key, { input: FIVE_TOKENS }));
        const spent = await spentOf(lab, hash);
        figures[`${reset}: limit, spent`] = `${usd(limit)}, ${usd(spent)}`;
        figures[`${reset}: calls today`] = statusesOf(answers);
        problems.push(
          ...brokenRules(
            // The call of 2030 is of no window of today's.
            [spent > limit + 5 * PRICE, `a ${reset} limit of ${usd(limit)} let ${usd(spent)} through`],
            [!answers.some(({ status }) => status === 200), `a ${reset} limit lets nothing through`],
          ),
        );
      }
      return { figures, problems };
    }),
};
