// The service behind PgBouncer in transaction mode, with the address of PostgreSQL itself beside it.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lasting } from '../../replicas/faults.js';
import type { Fault } from '../../replicas/faults.js';
import type { Lab } from '../../replicas/lab.js';
import { callOnce } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import { createLimitedKey, spentOf } from '../money.js';
import { isPgBouncerInstalled, startPgBouncer } from '../pgbouncer.js';
import type { PgBouncer } from '../pgbouncer.js';
import { inLab, Skipped, survive } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

const LOAD = { clients: 12, sizes: [1, 1, 4], pause: 5 };
const DATABASE = 'pooled';
// USD: some dozens of calls.
const LIMIT = 0.000004;
const MAX_CALLS = 2_000;
const AWAY_MS = 1_500;
const REFUSAL = 'DATABASE_URL leads through a pooler in transaction mode: set DATABASE_DIRECT_URL';

const poolerKilled = (bouncer: PgBouncer): Fault => ({
  name: 'PgBouncer killed and started again',
  async run(lab, milliseconds) {
    await bouncer.kill();
    await lab.wait(milliseconds);
    await bouncer.start();
  },
});

/** A key is spent to its limit, is refused, and exceeds nothing. */
async function spendLimit(lab: Lab): Promise<{ readonly report: LoadReport; readonly problems: string[] }> {
  const key = await createLimitedKey(lab, LIMIT);
  const report = createReport();
  for (let calls = 0; calls < MAX_CALLS && !report.rejections.has(402); calls++) {
    const replica = lab.replicas[calls % lab.replicas.length];
    if (replica) await callOnce(lab, replica, { key }, report);
  }
  const spent = await spentOf(lab);
  return {
    report,
    problems: [
      ...(report.rejections.has(402) ? [] : ['the limit of a key was never reached']),
      ...(spent > LIMIT ? [`${spent} USD were spent of a limit of ${LIMIT} USD`] : []),
    ],
  };
}

async function startWithoutDirectAddress(lab: Lab, url: string): Promise<string[]> {
  const environment = { DATABASE_URL: url, DATABASE_DIRECT_URL: '' };
  const outcome = await lab.startReplica({ environment }).then(
    () => 'it started',
    (error: unknown) => String(error),
  );
  return outcome.includes(REFUSAL) ? [] : [`without DATABASE_DIRECT_URL: ${outcome}`];
}

export const transactionPooler: Scenario = {
  name: 'PgBouncer in transaction mode',
  async run(context) {
    if (!isPgBouncerInstalled()) throw new Skipped('pgbouncer is not installed');
    const directory = join(context.directory, DATABASE);
    await mkdir(directory, { mode: 0o711 });
    const bouncer = await startPgBouncer(context.cluster.url, directory);
    try {
      const direct = new URL(context.cluster.url);
      direct.pathname = `/${DATABASE}`;
      const pooled = bouncer.addressOf(direct.href);
      const environment = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct.href };
      return await inLab(context, { name: DATABASE, replicaOptions: { environment } }, async (lab) => {
        const refusal = await startWithoutDirectAddress(lab, pooled);
        const limited = await spendLimit(lab);
        const faults = [lasting(poolerKilled(bouncer), AWAY_MS)];
        const say = (text: string) => context.say(text);
        const result = await survive(lab, faults, LOAD, say, [limited.report]);
        return { ...result, problems: [...refusal, ...limited.problems, ...result.problems] };
      });
    } finally {
      await bouncer.kill();
    }
  },
};
