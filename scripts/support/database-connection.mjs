// One connection to PostgreSQL, and its errors for the terminal. They never show the password.
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

const ATTEMPT_TIMEOUT_MS = 5000;

/** Errors that waiting cannot fix, by SQLSTATE or by the code of the TLS library, and their remedies. */
const REMEDIES = {
  '28P01': (variable) => `check the user and the password in ${variable}`,
  28000: (variable) => `check the user in ${variable} and what the server allows it (pg_hba.conf, sslmode)`,
  '3D000': (variable) => `create the database, or correct its name at the end of ${variable}`,
  42501: () => 'grant this user the right to connect to the database',
  ENOENT: (variable) => `correct the path in ${variable} (sslrootcert, sslcert or sslkey)`,
  DEPTH_ZERO_SELF_SIGNED_CERT: nameTheAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: nameTheAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: nameTheAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: nameTheAuthority,
};

function nameTheAuthority(variable) {
  return `name the file of the authority that signed its certificate: sslrootcert=/path/ca.pem in ${variable}`;
}

const WORTH_WAITING_FOR = [
  // 08: connection lost, 53: no connection free, 57P: starting up or shutting down.
  /^(08|53|57P)/,
  /^(ECONN|EHOST|ENET|EAI_)/,
  /^(ENOTFOUND|EPIPE|ETIMEDOUT)$/,
];

// Scheme, user and password; servers; the rest.
const ADDRESS = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#@]*)(?:[/?#].*)?$/s;

/** The error does not show the address: it may hold a password, even in an unexpected part. */
export function checkAddress(databaseUrl, variable) {
  if (!ADDRESS.test(databaseUrl) || !(listServers(databaseUrl).length > 1 || URL.canParse(databaseUrl)))
    throw new ScriptError(`${variable} must look like postgresql://user:password@host:5432/name`);
}

/** The address of another database of the same server. */
export function withDatabase(databaseUrl, name) {
  const changed = new URL(databaseUrl);
  changed.pathname = `/${name}`;
  return changed.href;
}

function listServers(databaseUrl) {
  return ADDRESS.exec(databaseUrl)?.[1].split(',') ?? [];
}

async function loadInstalled(load) {
  try {
    return await load();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ScriptError('The packages are not installed. Run this first: node scripts/setup.mjs');
  }
}

/**
 * The driver, and its options for connections to an address. The service chooses among several servers; scripts that
 * run before its build connect to a single one.
 */
export async function loadPostgres(databaseUrl) {
  const { default: pg } = await loadInstalled(() => import('pg'));
  if (listServers(databaseUrl).length < 2 && !databaseUrl.includes('target_session_attrs='))
    return { Pool: pg.Pool, Client: pg.Client, options: { connectionString: databaseUrl } };
  const connections = await loadInstalled(() => importBuilt('persistence/connections/database-client.js'));
  return { Pool: pg.Pool, Client: connections.clientClassOf(databaseUrl), options: {} };
}

/** The caller ends the connection. */
export async function connect(databaseUrl) {
  const { Client, options } = await loadPostgres(databaseUrl);
  const client = new Client({
    ...options,
    connectionTimeoutMillis: ATTEMPT_TIMEOUT_MS,
    application_name: 'signalbox scripts',
  });
  // A connection that breaks while it is idle: the next query reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    // A host with several addresses fails with one error for each of them and an empty message.
    throw error.errors?.[0] ?? error;
  }
  return client;
}

/** Runs `work` with a connection of its own, and resolves with its result. */
export async function withClient(databaseUrl, work) {
  const client = await connect(databaseUrl);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates an empty database on the same server, and returns its address. */
export async function createDatabase(databaseUrl, name) {
  await withClient(databaseUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  return withDatabase(databaseUrl, name);
}

/** Hosts and ports in readable form. */
export function describeServer(databaseUrl) {
  const parameter = /[?&]host=([^&#]*)/.exec(databaseUrl)?.[1] ?? 'localhost';
  return listServers(databaseUrl)
    .map((server) => server || decodeURIComponent(parameter))
    .map((server) => (/:\d+$/.test(server) ? server : `${server}:5432`))
    .join(', ');
}

export function isWorthWaitingFor(error) {
  if (error.code === undefined) return /terminated|timeout/i.test(error.message);
  // A socket may appear; a file of certificates will not.
  if (error.code === 'ENOENT') return error.syscall === 'connect';
  return WORTH_WAITING_FOR.some((pattern) => pattern.test(error.code));
}

export function explainRejection(databaseUrl, variable, error) {
  const remedy = REMEDIES[error.code]?.(variable) ?? `correct ${variable}`;
  return new ScriptError(
    `The database at ${describeServer(databaseUrl)} cannot be used: ${error.message}; ${remedy}`,
  );
}
