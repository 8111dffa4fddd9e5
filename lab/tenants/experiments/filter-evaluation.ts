import { besideFigures, besideProblems, lagFigures, lagProblems, measureBeside } from '../beside.js';
import type { Experiment } from '../experiment.js';
import { dearRule, FREE_MODEL, noise, statusesIn, webhook } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import type { TenantLab } from '../tenant-lab.js';

const RULES = 20;
// Counts of the repeat in each rule; the largest that is accepted is used.
const REPEATS = [200, 100, 40, 15, 5];
const CALLS = 400;
const BODIES = 100;
const TOLERATED_LAG_MS = 2_500;

/** A destination whose filter is dear for each entry; which repeats its rules have. */
export async function createDearFilter(lab: TenantLab, url: string): Promise<number | null> {
  for (const repeats of REPEATS) {
    const rules = Array.from({ length: RULES }, () => dearRule('user_id', repeats));
    const { status } = await lab.call('POST', '/observability/destinations', {
      key: lab.attacker.managementKey,
      body: webhook(url, { filter_rules: { groups: [{ logic: 'or', rules }] } }),
    });
    if (status === 201) return repeats;
  }
  return null;
}

export function dearCalls(lab: TenantLab, count: number): string[] {
  return Array.from({ length: count }, () =>
    JSON.stringify({
      model: FREE_MODEL,
      dimensions: 8,
      input: 'filtered',
      user: noise(lab.random, 1_000),
    }),
  );
}

const experiment = (process: 'own' | 'shared'): Experiment => ({
  name: `filter-evaluation-${process}`,
  title:
    `A destination with ${RULES} dear filter rules has ${CALLS} entries to look at; deliveries run in ` +
    `${process === 'own' ? 'a process of their own' : 'the process that serves'}. Calls and deliveries of others go on.`,
  run: (context, { root, label }) =>
    inTenantLab(
      context,
      { name: `filter_${process}_${label}`, root, environment: { DELIVERY_PROCESS: process } },
      async (lab) => {
        const repeats = await createDearFilter(lab, 'http://127.0.0.1:9/');
        const requests = dearCalls(lab, BODIES).map((body) => ({
          method: 'POST' as const,
          path: '/embeddings',
          key: 'inference' as const,
          body,
        }));
        const beside = await measureBeside(lab, { calmMs: 4_000, attackMs: 9_000 }, async () => [
          await lab.attack('storm', { requests, clients: 8, most: CALLS, pause: 0, timeout: 20_000 }),
        ]);
        return {
          figures: {
            'filter accepted': repeats === null ? 'no' : `yes, repeats of ${repeats}`,
            "attacker's calls": statusesIn(beside.attacks[0] ?? {}),
            ...lagFigures(beside),
            ...besideFigures(lab, beside),
          },
          problems: [...besideProblems(lab, beside), ...lagProblems(beside, TOLERATED_LAG_MS)],
        };
      },
    ),
});

export const filterEvaluation = experiment('own');
export const filterEvaluationShared = experiment('shared');
