// Creates an account with a management key in the database of a running service, and sends both over the channel.
// There is no operation for it: an operator does it, with the build's own command.
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

const { SERVICE_ROOT: root, DATABASE_URL: databaseUrl } = process.env;
const { run } = await import(pathToFileURL(`${root}/dist/cli/keys-create.js`).href);

/** The default workspace is a deferred foreign key: both rows are made in one transaction. */
async function createAccount(client) {
  const [account, workspace] = [randomUUID(), randomUUID()];
  await client.query('BEGIN');
  await client.query('INSERT INTO accounts (id, name, default_workspace_id) VALUES ($1, $2, $3)', [
    account,
    'Another tenant',
    workspace,
  ]);
  await client.query('INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, $3, $4)', [
    workspace,
    account,
    'Default',
    'default',
  ]);
  await client.query('COMMIT');
  return { accountId: account, workspaceId: workspace };
}

/** The printed output of the command is its only result. */
async function createManagementKey(accountId) {
  const write = process.stdout.write.bind(process.stdout);
  let printed = '';
  process.stdout.write = (text) => {
    printed += text;
    return true;
  };
  try {
    await run(['--management', '--account', accountId]);
  } finally {
    process.stdout.write = write;
  }
  return /key:\s+(\S+)/.exec(printed)[1];
}

const client = new pg.Client({ connectionString: databaseUrl });
await client.connect();
const account = await createAccount(client);
const managementKey = await createManagementKey(account.accountId);
await client.end();
process.send({ ...account, managementKey }, () => process.exit());
