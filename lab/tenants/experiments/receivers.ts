import { brokenRules } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, embed, FREE_MODEL, noise, statusesIn, statusesOf, webhook } from '../requests.js';
import { startAttackerServer, startEndlessServer } from '../servers.js';
import type { AttackerServer } from '../servers.js';
import { inTenantLab } from '../tenant-lab.js';
import type { TenantLab } from '../tenant-lab.js';
import { megabytes } from '../../support/statistics.js';

const ENDLESS_MS = 8_000;
const MOST_INTERIM_BYTES = 600 * 1024 * 1024;
const TOLERATED_INTERIM_BYTES = 12 * 1024 * 1024;
// The figure is the bytes that were read, not the number of retries.
const ONE_ATTEMPT = { BROADCAST_RETRY_BASE_DELAY_MS: '3600000', BROADCAST_RETRY_MAX_DELAY_MS: '3600000' };
const TOLERATED_GROWTH = 200 * 1024 * 1024;

export const interimAnswers: Experiment = {
  name: 'interim-answers',
  title: 'A receiver answers with 103 Early Hints without end. They count toward the bound of an answer.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `interim_${label}`, root, environment: ONE_ATTEMPT }, async (lab) => {
      const server = await startEndlessServer(MOST_INTERIM_BYTES);
      try {
        await lab.operate('POST', '/observability/destinations', webhook(`${server.origin}/`));
        const before = lab.processes.look().delivering;
        await embed(lab, lab.attacker.apiKey, { model: FREE_MODEL, input: 'delivered' });
        await lab.wait(ENDLESS_MS);
        const { delivering, restarts } = lab.processes.look();
        const written = server.written();
        return {
          figures: {
            [`read by the service in ${ENDLESS_MS / 1_000} s`]: megabytes(written),
            'memory of the process that delivers: before, peak': `${megabytes(before)}, ${megabytes(delivering)}`,
            'delivery processes that died': `${restarts}`,
          },
          problems: brokenRules(
            [written > TOLERATED_INTERIM_BYTES, `${megabytes(written)} of interim answers were read`],
            [delivering - before > TOLERATED_GROWTH, `memory grew by ${megabytes(delivering - before)}`],
            [restarts > 0, 'the process that delivers died'],
          ),
        };
      } finally {
        await server.close();
      }
    }),
};

const LOGGED_CALLS = 40;
const INPUT_LENGTH = 20_000;
const REPLAYS = 30;
const QUIET_MS = 1_000;
const QUIET_TIMEOUT_MS = 8_000;
// The service allows as many replays of a destination in an hour.
const TOLERATED_TIMES = 6;

export const replays: Experiment = {
  name: 'replays',
  title:
    `${REPLAYS} replays of the same ${LOGGED_CALLS} generations, a third of a second apart. One runs at a time, and a few in ` +
    'an hour.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `replays_${label}`, root }, async (lab) => {
      const server = await startAttackerServer({ answersAfter: 0 });
      try {
        const created = (await lab.operate(
          'POST',
          '/observability/destinations',
          webhook(`${server.origin}/`),
        )) as { readonly data: { readonly id: string } };
        const from = new Date(Date.now() - 1_000).toISOString();
        for (let call = 0; call < LOGGED_CALLS; call++)
          await embed(lab, lab.attacker.apiKey, {
            model: FREE_MODEL,
            input: noise(lab.random, INPUT_LENGTH),
          });
        await untilQuiet(lab, server);
        const once = server.received();
        const body = { from };
        const answers = [];
        for (let replay = 0; replay < REPLAYS; replay++) {
          answers.push(
            await lab.call('POST', `/observability/destinations/${created.data.id}/replay`, {
              key: lab.attacker.managementKey,
              body,
            }),
          );
          await lab.wait(300);
        }
        await untilQuiet(lab, server);
        const again = server.received() - once;
        const asked = REPLAYS * JSON.stringify(body).length;
        return {
          figures: {
            replays: statusesOf(answers),
            'delivered once': `${Math.round(once / 1024)} KB`,
            'bodies of the replays': `${asked} bytes`,
            'delivered again': `${Math.round(again / 1024)} KB`,
          },
          problems: brokenRules([
            again > TOLERATED_TIMES * Math.max(once, 1),
            `${Math.round(again / Math.max(once, 1))} times the log was sent to the receiver`,
          ]),
        };
      } finally {
        await server.close();
      }
    }),
};

/** Something has come, and nothing more comes. */
async function untilQuiet(lab: TenantLab, { received }: AttackerServer): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  for (let before = -1; performance.now() < deadline; before = received()) {
    if (before > 0 && before === received()) return;
    await lab.wait(QUIET_MS);
  }
}

const STORED_CALLS = 300;
const STORED_INPUT = 60_000;

export const storedContents: Experiment = {
  name: 'stored-contents',
  title:
    `${STORED_CALLS} calls of the free model with a limit of 0 and inputs of 60 KB, for a destination that is away. The ` +
    'stored bytes of a workspace are bounded.',
  run: (context, { root, label }) =>
    inTenantLab(
      context,
      { name: `stored_contents_${label}`, root, environment: STORAGE_QUOTA },
      async (lab) => {
        await lab.operate('POST', '/observability/destinations', webhook('http://127.0.0.1:9/'));
        const { key } = await createKey(lab, { limit: 0 }, lab.attacker.managementKey);
        const attack = await lab.attack('storm', {
          requests: Array.from({ length: 50 }, () => ({
            method: 'POST' as const,
            path: '/embeddings',
            key: 'inference' as const,
            bearer: key,
            body: JSON.stringify({
              model: FREE_MODEL,
              dimensions: 8,
              input: noise(lab.random, STORED_INPUT),
            }),
          })),
          clients: 4,
          most: STORED_CALLS,
          pause: 0,
          timeout: 10_000,
        });
        const figures = await attack.finished;
        const [row] = await lab.sql<{ bytes: string }>(
          `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class AS c
         JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public' AND c.relname LIKE 'generation_content%' AND c.relkind = 'r'`,
        );
        const stored = Number(row?.bytes ?? 0);
        const bytes = STORED_QUOTA_BYTES * 2;
        return {
          figures: {
            "attacker's calls": statusesIn(figures),
            'sent as inputs': megabytes(STORED_CALLS * STORED_INPUT),
            'stored, compressed': `${(stored / 1024 / 1024).toFixed(1)} MB`,
          },
          problems: brokenRules([stored > bytes, `${megabytes(stored)} of contents are stored`]),
        };
      },
    ),
};

// A small one, so that the experiment need not fill a disk.
const STORED_QUOTA_BYTES = 1024 * 1024;
const STORAGE_QUOTA = { WORKSPACE_CONTENT_QUOTA_BYTES: `${STORED_QUOTA_BYTES}` };
