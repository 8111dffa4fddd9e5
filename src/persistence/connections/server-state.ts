// The state of a server and of a session there, read when a connection opens.
import type pg from 'pg';
import type { ServerChoice } from '../../domain/database-address.js';
import { FIND_MISSING_SETTINGS, OPEN_SESSION } from './session-settings.js';

export interface ServerState {
  /** The process that ran this statement. Behind a pooler it is not the one that the handshake named. */
  readonly processId: number;
  readonly isStandby: boolean;
  /** Whether transactions are read-only by default. */
  readonly isReadOnly: boolean;
  /** 150018 for 15.18. */
  readonly version: number;
  readonly versionName: string;
  readonly encoding: string;
  readonly replicationRole: string;
  /** Quoted where SQL needs it. */
  readonly role: string;
  readonly database: string;
  readonly searchPath: string;
  /** Holds the service's tables, or is to hold them; null: the search path has none. */
  readonly schema: string | null;
  /** Null: the schema does not exist. */
  readonly mayCreate: boolean | null;
}

/** The wishes of a connection. */
export interface SessionOptions {
  readonly schema?: string | undefined;
  /** Milliseconds after which the server ends a statement; absent: never. */
  readonly statementTimeout?: number | undefined;
}

const OLDEST_VERSION = 15;

// Each promotion begins a new timeline: the first eight digits of the name of the current WAL file.
const READ_TIMELINE =
  "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint::text AS timeline";

/** States the settings of the session, and returns the state of the server. */
export async function openSession(
  client: pg.ClientBase,
  { schema, statementTimeout = 0 }: SessionOptions = {},
): Promise<ServerState> {
  const { processID = null } = client as { readonly processID?: number | null };
  const values = [schema ?? null, processID, String(statementTimeout)];
  const { rows } = await client.query<ServerState>(OPEN_SESSION, values);
  const [state] = rows;
  if (!state) throw new Error('the server described nothing');
  return state;
}

/** The settings that a session lacks where a pooler does not keep those of openSession. */
export async function findMissingSettings(client: pg.ClientBase, schema: string | null): Promise<string[]> {
  await client.query('BEGIN; RESET ALL');
  try {
    const { rows } = await client.query<{ setting: string }>(FIND_MISSING_SETTINGS, [schema]);
    return rows.map(({ setting }) => setting);
  } finally {
    await client.query('ROLLBACK');
  }
}

export function isAcceptable({ isStandby, isReadOnly }: ServerState, choice: ServerChoice): boolean {
  return choice === 'any' || !(isStandby || (choice === 'read-write' && isReadOnly));
}

/** Why the service cannot work there, and what to do; null: it can. */
export function describeUnfitness(state: ServerState): string | null {
  const { encoding, role, schema } = state;
  if (Math.floor(state.version / 10_000) < OLDEST_VERSION)
    return `it is PostgreSQL ${state.versionName}; use ${OLDEST_VERSION} or newer`;
  if (encoding !== 'UTF8')
    return `its encoding ${encoding} does not hold every text; use one that was made with TEMPLATE template0 ENCODING 'UTF8'`;
  // Not overridden: operators freeze a database so.
  if (state.isReadOnly && !state.isStandby)
    return 'its transactions are read-only by default; set default_transaction_read_only = off for the role, the database or the server';
  if (state.replicationRole !== 'origin')
    return `its triggers are off; set session_replication_role = origin for the role ${role}`;
  if (schema === null)
    return `the search_path of the role ${role} (${state.searchPath}) has no schema that it may use; ${ownSchema(role)}`;
  if (state.mayCreate === null)
    return `it has no schema ${schema} that the role ${role} may use; ${ownSchema(role, schema)}`;
  if (!state.mayCreate)
    return (
      `permission denied for schema ${schema}; make the role ${role} the owner of the database, ` +
      `or ${ownSchema(role)}`
    );
  return null;
}

const ownSchema = (role: string, name = role): string =>
  `run CREATE SCHEMA ${name} AUTHORIZATION ${role} and add schema=${name} to the parameters of the address`;

/** 0 for a server that does not tell, as some managed ones do. */
export async function readTimeline(client: pg.ClientBase): Promise<number> {
  const { rows } = await client
    .query<{ timeline: string }>(READ_TIMELINE)
    .catch(() => ({ rows: [] as { timeline: string }[] }));
  return Number(rows[0]?.timeline ?? 0);
}
