// One connection to PostgreSQL, and its errors for the terminal. They never show the password.
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

const ATTEMPT_TIMEOUT_MS = 5000;

/** Errors that waiting cannot fix, by SQLSTATE or by the code of the TLS library, and their remedies. */
const REMEDIES = {
  '28P01': (variable) =>
    `check the user and the password in ${variable}, where % and the like are percent-encoded`,
  28000: (variable) => `check the user in ${variable} and what the server allows it (pg_hba.conf, sslmode)`,
  '3D000': (variable) => `create the database, or correct its name at the end of ${variable}`,
  42501: () => 'grant this user the right to connect to the database',
  ENOTFOUND: nameTheServer,
  EAI_AGAIN: nameTheServer,
  NO_TLS: (variable) => `switch TLS on there, or connect without: sslmode=disable in ${variable}`,
  ERR_TLS_CERT_ALTNAME_INVALID: (variable) =>
    `name the server in ${variable} as its certificate does, or do not check it: sslmode=no-verify`,
  ENOENT: (variable) => `correct the path in ${variable} (sslrootcert, sslcert or sslkey)`,
  DEPTH_ZERO_SELF_SIGNED_CERT: nameTheAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: nameTheAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: nameTheAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: nameTheAuthority,
};

function nameTheAuthority(variable) {
  return `name the file of the authority that signed its certificate: sslrootcert=/path/ca.pem in ${variable}`;
}

function nameTheServer(variable) {
  return `correct the host in ${variable}, or start again when its name is known`;
}

// The driver's message, which has no code.
const NO_TLS = /does not support SSL/;

const WORTH_WAITING_FOR = [
  // 08: connection lost, 53: no connection free, 57P: starting up or shutting down.
  /^(08|53|57P)/,
  /^(ECONN|EHOST|ENET|EAI_)/,
  /^(ENOTFOUND|EPIPE|ETIMEDOUT)$/,
];

async function loadInstalled(load) {
  try {
    return await load();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ScriptError('The packages are not installed. Run this first: node scripts/setup.mjs');
  }
}

const loadAddresses = () => loadInstalled(() => importBuilt('domain/database-address.js'));

/** Throws for an address that cannot be read. The error does not show it: it may hold a password in any part. */
export async function checkAddress(databaseUrl, variable) {
  const { parseDatabaseAddress } = await loadAddresses();
  try {
    parseDatabaseAddress(databaseUrl);
  } catch (error) {
    throw new ScriptError(`${variable} ${error.message}`);
  }
}

/** The address of another database of the same server. */
export function withDatabase(databaseUrl, name) {
  const changed = new URL(databaseUrl);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** The driver, with the service's own connections to an address. */
export async function loadPostgres(databaseUrl) {
  const { default: pg } = await loadInstalled(() => import('pg'));
  const { clientClassOf } = await loadInstalled(() =>
    importBuilt('persistence/connections/database-client.js'),
  );
  return { Pool: pg.Pool, Client: clientClassOf(databaseUrl) };
}

/** The caller ends the connection. */
export async function connect(databaseUrl) {
  const { Client } = await loadPostgres(databaseUrl);
  const client = new Client({
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
export async function describeServer(databaseUrl) {
  const { describeServers, parseDatabaseAddress } = await loadAddresses();
  return describeServers(parseDatabaseAddress(databaseUrl));
}

/** A name that is not known, or not for now. */
export const isNameFailure = ({ code }) => code === 'ENOTFOUND' || code?.startsWith('EAI_') === true;

/** Throws for a server, a database or a role that the service cannot work with. */
export async function requireFitness(databaseUrl, { state }) {
  const { describeUnfitness } = await importBuilt('persistence/connections/server-state.js');
  const problem = describeUnfitness(state);
  if (problem !== null) throw cannotBeUsed(await describeServer(databaseUrl), problem);
}

const cannotBeUsed = (server, problem) =>
  new ScriptError(`The database at ${server} cannot be used: ${problem}`);

export function isWorthWaitingFor(error) {
  if (error.code === undefined) return /terminated|timeout/i.test(error.message);
  // A socket may appear; a file of certificates will not.
  if (error.code === 'ENOENT') return error.syscall === 'connect';
  return WORTH_WAITING_FOR.some((pattern) => pattern.test(error.code));
}

export async function explainRejection(databaseUrl, variable, error) {
  const remedy = (REMEDIES[error.code] ?? (NO_TLS.test(error.message) ? REMEDIES.NO_TLS : undefined))?.(
    variable,
  );
  return cannotBeUsed(
    await describeServer(databaseUrl),
    `${error.message}; ${remedy ?? `correct ${variable}`}`,
  );
}
