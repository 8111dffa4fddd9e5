import { besideFigures, besideProblems, latencyOf, measureBeside } from '../beside.js';
import { brokenRules, milliseconds } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { statusesIn, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

// As an operator has them who sets nothing.
const USUAL_RATES = { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '600', RATE_LIMIT_INFERENCE_PER_MINUTE: '6000' };
const ROUTES = [
  '/workspaces',
  '/byok',
  '/observability/destinations',
  '/activity',
  '/credits',
  '/analytics/meta',
  '/keys',
  '/key',
];
const REQUESTS = 800;

export const requestRates: Experiment = {
  name: 'request-rates',
  title: `${REQUESTS} requests of one management key to eight routes. Each counts; beyond 600 in a minute they get 429.`,
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `rates_${label}`, root, environment: USUAL_RATES }, async (lab) => {
      const attack = await lab.attack('storm', {
        requests: ROUTES.map((path) => ({ method: 'GET' as const, path, key: 'management' as const })),
        clients: 8,
        most: REQUESTS,
        pause: 0,
        timeout: 10_000,
      });
      const figures = await attack.finished;
      const rejected = figures['status 429'] ?? 0;
      return {
        figures: { answers: statusesIn(figures) },
        problems: brokenRules([rejected < REQUESTS - 650, `${rejected} of ${REQUESTS} requests got 429`]),
      };
    }),
};

export const patchStorm: Experiment = {
  name: 'patch-storm',
  title: 'Eight clients change a workspace again and again. The calls of others take as long as before.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `patch_${label}`, root, environment: USUAL_RATES }, async (lab) => {
      const beside = await measureBeside(lab, { calmMs: 5_000, attackMs: 6_000 }, async () => [
        await lab.attack('storm', {
          requests: Array.from({ length: 10 }, (_value, index) => ({
            method: 'PATCH' as const,
            path: `/workspaces/${lab.attacker.workspaceId}`,
            key: 'management' as const,
            body: JSON.stringify({ name: `Changed ${index}` }),
          })),
          clients: 8,
          most: 20_000,
          pause: 0,
          timeout: 10_000,
        }),
      ]);
      const p50 = (part: 'calm' | 'attacked') => milliseconds(latencyOf(beside[part], 0.5));
      return {
        figures: {
          "attacker's answers": statusesIn(beside.attacks[0] ?? {}),
          'others: p50 before, beside': `${p50('calm')}, ${p50('attacked')}`,
          ...besideFigures(lab, beside),
        },
        problems: besideProblems(lab, beside),
      };
    }),
};

const REPORTS = 15;

export const reportStorm: Experiment = {
  name: 'report-storm',
  title:
    "One account asks for 60 reports at once, again and again. Another account's reports are still made.",
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `reports_${label}`, root }, async (lab) => {
      const query = {
        metrics: ['request_count'],
        dimensions: ['model'],
        time_range: {
          start: new Date(Date.now() - 86_400_000).toISOString(),
          end: new Date().toISOString(),
        },
      };
      const body = JSON.stringify(query);
      const attack = await lab.attack('storm', {
        requests: [{ method: 'POST', path: '/analytics/query', key: 'management', body }],
        clients: 60,
        most: 20_000,
        pause: 0,
        timeout: 10_000,
      });
      await lab.wait(500);
      const reports = [];
      for (let count = 0; count < REPORTS; count++) {
        reports.push(await lab.call('POST', '/analytics/query', { key: lab.keys.managementKey, body }));
        await lab.wait(100);
      }
      const figures = await attack.stop();
      const failed = reports.filter(({ status }) => status !== 200).length;
      const slowest = Math.max(...reports.map(({ milliseconds: took }) => took));
      return {
        figures: {
          "attacker's reports": statusesIn(figures),
          "others' reports": statusesOf(reports),
          "slowest of the others' reports": milliseconds(slowest),
        },
        problems: brokenRules([failed > 0, `${failed} of ${REPORTS} reports of another account failed`]),
      };
    }),
};
