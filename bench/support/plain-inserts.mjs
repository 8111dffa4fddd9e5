// Single-row insert transactions: by pgbench, or where it is not installed by as many connections of the pg client.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../scripts/support/database-connection.mjs';
import { runCommand } from '../../scripts/support/run-command.mjs';

const TABLE = 'bench_rows';
// The sizes of a webhook's row.
const INSERT = `INSERT INTO ${TABLE} (id, workspace_id, account_id, kind, type, slot, name, enabled, privacy_mode,
  broadcast_cost, broadcast_identity, broadcast_request_context, sampling_rate, api_key_hashes, filter_rules, regions,
  config_ciphertext, config_encryption_key_id, updated_at)
VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'webhook', 'webhook', 1, 'Bench', true, false, false,
  false, false, 1, '{}', NULL, '{global}', decode(repeat('ab', 96), 'hex'), '01234567', now())`;

async function hasPgbench(signal) {
  try {
    await runCommand('pgbench', ['--version'], { signal });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function runPgbench(file, databaseUrl, { connections, seconds }, signal) {
  const output = await runCommand(
    'pgbench',
    [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${connections}`,
      '--jobs=2',
      `--time=${Math.max(Math.ceil(seconds), 2)}`,
      `--file=${file}`,
      databaseUrl,
    ],
    { signal },
  );
  return Number(/^tps = ([\d.]+)/m.exec(output)[1]);
}

async function runClients(databaseUrl, { connections, seconds }) {
  const clients = await Promise.all(Array.from({ length: connections }, () => connect(databaseUrl)));
  const begunAt = performance.now();
  let count = 0;
  const insertAll = async (client) => {
    for (; performance.now() - begunAt < seconds * 1000; count++)
      await client.query({ name: 'insert', text: INSERT });
  };
  await Promise.all(clients.map(insertAll));
  const elapsed = (performance.now() - begunAt) / 1000;
  await Promise.all(clients.map((client) => client.end()));
  return count / elapsed;
}

/** Creates a table like that of the destinations; `run` resolves with transactions a second. */
export async function prepareInserts(databaseUrl, { directory, signal }) {
  const client = await connect(databaseUrl);
  await client.query(`CREATE TABLE ${TABLE} (LIKE destinations INCLUDING ALL)`);
  await client.end();
  if (!(await hasPgbench(signal)))
    return { name: 'inserts by the pg client', run: (load) => runClients(databaseUrl, load) };
  const file = join(directory, 'insert.sql');
  writeFileSync(file, `${INSERT};\n`);
  return { name: 'pgbench', run: (load) => runPgbench(file, databaseUrl, load, signal) };
}
