// The bytes that a call leaves in the log and in the write-ahead log of PostgreSQL, by the calls that share a commit.
import { withClient } from '../../../scripts/support/database-connection.mjs';
import { sleep } from '../../../scripts/support/processes.mjs';
import { openService } from '../testbed/gateways.mjs';
import { embeddingsJob } from '../testbed/measuring.mjs';
import { whole } from '../../support/statistics.ts';

const CALL = { inputs: 1, format: 'base64', dimensions: 384 };
const CONNECTIONS = [1, 10, 50];
// A refusal would end the run.
const ENVIRONMENT = { MAX_EVENT_LOOP_DELAY_MS: '0' };
const SECONDS = { quick: 2, full: 10 };
// Processes that take calls and write in the background settle first.
const IDLE_MS = 1_000;

const LOG = `SELECT coalesce(sum(pg_relation_size(relid)), 0)::float8 AS rows, coalesce(sum(pg_indexes_size(relid)), 0)::float8 AS indexes,
  pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal, (SELECT count(*) FROM generations)::float8 AS calls,
  (SELECT wal_fpi FROM pg_stat_wal)::float8 AS pages
  FROM pg_partition_tree('generations') WHERE isleaf`;

async function read(databaseUrl) {
  const { rows } = await withClient(databaseUrl, (client) => client.query(LOG));
  return rows[0];
}

async function measureCalls(testbed, service, connections, seconds) {
  await withClient(testbed.server.url, (client) => client.query('CHECKPOINT'));
  await sleep(IDLE_MS, testbed.signal);
  const before = await read(service.databaseUrl);
  await testbed.runLoad({ ...embeddingsJob(service, CALL), connections, seconds });
  await sleep(IDLE_MS, testbed.signal);
  const after = await read(service.databaseUrl);
  const calls = after.calls - before.calls;
  const perCall = (part) => (after[part] - before[part]) / calls;
  return {
    connections,
    calls,
    ...Object.fromEntries(['rows', 'indexes', 'wal', 'pages'].map((part) => [part, perCall(part)])),
  };
}

export const logSize = {
  name: 'log-size',
  title: 'Bytes of a call in the log',
  async measure(testbed, { isQuick }) {
    await testbed.setUpstreamDelay(0);
    const service = await openService(testbed, { environment: ENVIRONMENT, hasDestination: false });
    const measured = [];
    for (const connections of CONNECTIONS) {
      const measure = () => measureCalls(testbed, service, connections, SECONDS[isQuick ? 'quick' : 'full']);
      measured.push(await testbed.progress.step(`${connections} connection(s)`, measure));
    }
    await service.stop();
    const last = measured.at(-1);
    return {
      summary: [
        {
          what: 'bytes of a call in the log, 50 connections',
          figures: { service: whole(last.rows + last.indexes) },
        },
      ],
      targets: [],
      tables: [
        {
          title: '1 input, no trace object, no destination, after a checkpoint',
          columns: ['connections', 'calls', 'row bytes', 'index bytes', 'WAL bytes', 'full pages in it'],
          rows: measured.map(({ connections, calls, rows, indexes, wal, pages }) => [
            whole(connections),
            whole(calls),
            whole(rows),
            whole(indexes),
            whole(wal),
            pages.toFixed(3),
          ]),
        },
      ],
      remarks: ['Bytes a call. The log is new, so that its pages are full and its indexes have few levels.'],
    };
  },
};
