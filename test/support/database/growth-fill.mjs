// Fills a database like years of use: accounts, workspaces, keys, destinations and thirty days of the log, with bulk
// statements.
import { withClient } from '../../../scripts/support/database-connection.mjs';

const DAYS = 30;
const ROWS_PER_STATEMENT = 500_000;
/** Rows of one transaction in the log: those that arrive during a commit to the disk. */
const ROWS_PER_TRANSACTION = 5;
/** The share of keys of the measured account; its share of calls is larger (SKEW). */
const OWN_PART = 0.1;
/** Above 1: some keys call far more often than others. */
const SKEW = 1.5;
const KEYS_PER_WORKSPACE = 20;
const WORKSPACES_PER_ACCOUNT = 25;
/** The maximum of destinations of one kind in a workspace. */
export const SLOTS = 5;

/** A UUID of version 7; before version 18, PostgreSQL has no function for it. */
const idAt = (time) =>
  `overlay(replace(gen_random_uuid()::text, '-', '') PLACING
    lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0') || '7' FROM 1)::uuid`;
const NEW_ID = idAt('clock_timestamp()');

// Number 0 is the measured workspace.
const makeWorkspaces = (count) => `
CREATE TEMP TABLE filled_accounts AS
  SELECT number, ${NEW_ID} AS id FROM generate_series(1, ${Math.ceil(count / WORKSPACES_PER_ACCOUNT)}) AS number;
CREATE TEMP TABLE filled_workspaces AS
  SELECT 0 AS number, default_workspace_id AS id, id AS account_id FROM accounts
  UNION ALL
  SELECT number, ${NEW_ID}, (SELECT id FROM filled_accounts AS account
    WHERE account.number = (filled.number - 1) / ${WORKSPACES_PER_ACCOUNT} + 1)
  FROM generate_series(1, ${count}) AS filled (number);
BEGIN;
INSERT INTO accounts (id, name, default_workspace_id)
  SELECT account.id, 'Filled', workspace.id FROM filled_accounts AS account JOIN filled_workspaces AS workspace
    ON workspace.number = (account.number - 1) * ${WORKSPACES_PER_ACCOUNT} + 1;
INSERT INTO workspaces (id, account_id, name, slug)
  SELECT id, account_id, 'Filled', 'filled-' || number FROM filled_workspaces WHERE number > 0;
COMMIT`;

const makeKeys = (count) => `
CREATE TEMP TABLE filled_keys AS
  SELECT key.number, ${NEW_ID} AS id, workspace.id AS workspace_id, workspace.account_id
  FROM generate_series(0, ${count - 1}) AS key (number) JOIN filled_workspaces AS workspace ON workspace.number =
    CASE WHEN key.number < ${count * OWN_PART} THEN 0
    ELSE 1 + key.number % (SELECT count(*) - 1 FROM filled_workspaces) END;
INSERT INTO api_keys (id, workspace_id, account_id, hash, kind, name, label, limit_amount)
  SELECT id, workspace_id, account_id, encode(sha256(id::text::bytea), 'hex'), 'inference', 'Filled ' || number, 'filled',
    1000 FROM filled_keys;
INSERT INTO api_key_secrets (secret_hash, workspace_id, api_key_id)
  SELECT encode(sha256(id::text::bytea), 'hex'), workspace_id, id FROM filled_keys;
ANALYZE filled_keys`;

const makeLog = (from, to, { keys, generations }) => `
INSERT INTO generations (id, workspace_id, created_at, log_transaction, log_ordinal, account_id, api_key_id, operation,
  model, endpoint, provider, upstream_id, status, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok,
  dimensions, encoding_format, duration_ms, upstream_ms, user_id, request_id, region)
SELECT ${idAt('call.created_at')}, key.workspace_id, call.created_at,
  1 + call.number / ${ROWS_PER_TRANSACTION}, 1 + call.number % ${ROWS_PER_TRANSACTION}, key.account_id, key.id, 'embeddings',
  'model/' || key.number % 8, 'model/' || key.number % 8, 'openai', 'upstream-' || call.number, 200, 1 + call.number % 16,
  25, 25, 0.000002, 0.000002, false, 1536, 'base64', 40, 38, 'user-' || call.number % 1000,
  'request-' || call.number, 'global'
FROM (
  SELECT number, floor(${keys} * power(random(), ${SKEW}))::int AS key_number,
    date_trunc('milliseconds', now() - interval '${DAYS} days' * (1 - number::float8 / ${generations})) AS created_at
  FROM generate_series(${from}, ${to - 1}) AS number
) AS call JOIN filled_keys AS key ON key.number = call.key_number`;

// Their configs belong to another key and cannot be read: nothing is delivered to them, and no process is notified.
const makeDestinations = (count) => `
ALTER TABLE destinations DISABLE TRIGGER destinations_changed;
INSERT INTO destinations (id, workspace_id, account_id, kind, type, slot, name, enabled, privacy_mode, broadcast_cost,
  broadcast_identity, broadcast_request_context, sampling_rate, api_key_hashes, regions, config_ciphertext,
  config_encryption_key_id, updated_at)
SELECT ${NEW_ID}, workspace.id, workspace.account_id, 'webhook', 'webhook', 1 + round, 'Filled', true, false, false, false,
  false, 1, '{}', '{global}', real.config_ciphertext, real.config_encryption_key_id, now()
FROM generate_series(0, ${SLOTS - 1}) AS round, filled_workspaces AS workspace,
  (SELECT * FROM destinations LIMIT 1) AS real
WHERE workspace.number > 0 ORDER BY round, workspace.number LIMIT ${count};
INSERT INTO delivery_cursors (workspace_id, destination_id, log_transaction, log_ordinal)
  SELECT workspace_id, id, 0, 0 FROM destinations WHERE name = 'Filled';
SELECT move_delivery_cursors_to_end(workspace_id, NULL) FROM (SELECT DISTINCT workspace_id FROM delivery_cursors) AS workspace;
ALTER TABLE destinations ENABLE TRIGGER destinations_changed`;

// The rows above belong to no server: as after a restore, the log continues behind them.
const SETTLE_LOG = "UPDATE log_offset SET home = 'filled'; SELECT settle_log()";

const SUM_SPEND = `
UPDATE key_spend SET total = spent.total, monthly = spent.total, last_day = current_date FROM (
  SELECT workspace_id, api_key_id, sum(cost) AS total FROM generations GROUP BY workspace_id, api_key_id
) AS spent WHERE key_spend.workspace_id = spent.workspace_id AND key_spend.api_key_id = spent.api_key_id`;

/** Workspaces of the measured account for new destinations. Returns their ids. */
export async function makeOwnWorkspaces(databaseUrl, count) {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query(
      `INSERT INTO workspaces (id, account_id, name, slug)
       SELECT ${NEW_ID}, (SELECT id FROM accounts ORDER BY created_at LIMIT 1), 'Own', 'own-' || number
       FROM generate_series(1, $1) AS number RETURNING id`,
      [count],
    ),
  );
  return rows.map(({ id }) => id);
}

/** The hashes of some keys of the measured workspace. */
export async function listOwnKeyHashes(databaseUrl, count) {
  const { rows } = await withClient(databaseUrl, (client) =>
    client.query(
      `SELECT hash FROM api_keys WHERE account_id = (SELECT id FROM accounts ORDER BY created_at LIMIT 1)
         AND kind = 'inference' ORDER BY hash LIMIT $1`,
      [count],
    ),
  );
  return rows.map(({ hash }) => hash);
}

// The data need not survive a power cut, and their checkpoints would take longer than they do. Until bringToRest().
const FILL_SETTINGS = {
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '32GB',
  checkpoint_timeout: '1h',
};

/** Fills a database that has one account with a destination. No service may run on it at the time. */
export async function fill(databaseUrl, { generations, keys, destinations }, progress) {
  await withClient(databaseUrl, async (client) => {
    const step = (title, text) => progress.step(title, () => client.query(text));
    for (const [name, value] of Object.entries(FILL_SETTINGS))
      await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await client.query('SELECT pg_reload_conf()');
    await client.query(
      `SELECT ensure_time_partitions(now() - make_interval(days => day)) FROM generate_series(0, ${DAYS}) AS day`,
    );
    const workspaces = Math.max(Math.ceil(keys / KEYS_PER_WORKSPACE), Math.ceil(destinations / SLOTS));
    await step(`Filling: ${workspaces} workspaces`, makeWorkspaces(workspaces));
    await step(`Filling: ${keys} keys`, makeKeys(keys));
    for (let from = 0; from < generations; from += ROWS_PER_STATEMENT) {
      const to = Math.min(from + ROWS_PER_STATEMENT, generations);
      await step(
        `Filling: generations up to ${to} of ${generations}`,
        makeLog(from, to, { keys, generations }),
      );
    }
    await step('Filling: the end of the log', SETTLE_LOG);
    await step(`Filling: ${destinations} destinations`, makeDestinations(destinations));
    await step('Filling: spend', SUM_SPEND);
    await step('Filling: VACUUM ANALYZE', 'VACUUM ANALYZE');
    const { rows } = await client.query(
      'SELECT pg_size_pretty(pg_database_size(current_database())) AS size',
    );
    progress.line(`Filled: ${rows[0].size}`);
  });
}

/** Leaves neither a vacuum nor a checkpoint for later. */
export async function bringToRest(databaseUrl) {
  await withClient(databaseUrl, async (client) => {
    for (const name of Object.keys(FILL_SETTINGS)) await client.query(`ALTER SYSTEM RESET ${name}`);
    await client.query('SELECT pg_reload_conf()');
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  });
}

/** Resolves when the rollups are complete; throws after `timeout` milliseconds. */
export async function untilSummedUp(databaseUrl, signal, { timeout, pause }) {
  await withClient(databaseUrl, async (client) => {
    const deadline = performance.now() + timeout;
    for (;;) {
      const { rows } = await client.query(
        `SELECT least(activity.summed_before, usage.summed_before, users.summed_before) > 0 AS "isDone"
         FROM activity_rollup AS activity, usage_rollup AS usage, user_rollup AS users`,
      );
      if (rows[0].isDone) return;
      if (performance.now() > deadline) throw new Error('the log was not summed up in time');
      await pause(500, signal);
    }
  });
}
