// The state of a server, read when a connection opens.
import type pg from 'pg';
import type { ServerChoice } from '../../domain/database-address.js';

export interface ServerState {
  /** The process that ran this statement. Behind a pooler it is not the one that the handshake named. */
  readonly processId: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

// Prisma sends times without a zone: in a session with another zone they would be other moments. Poolers restore the
// zone of a client on every server connection.
const OPEN_SESSION = `
SELECT set_config('TimeZone', 'UTC', false), pg_backend_pid() AS "processId", pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly"`;

// Each promotion begins a new timeline: the first eight digits of the name of the current WAL file.
const READ_TIMELINE =
  "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint::text AS timeline";

/** Sets the session's zone, and returns the state of the server. */
export async function openSession(client: pg.ClientBase): Promise<ServerState> {
  const { rows } = await client.query<ServerState>(OPEN_SESSION);
  const [state] = rows;
  if (!state) throw new Error('the server described nothing');
  return state;
}

export function isAcceptable({ isStandby, isReadOnly }: ServerState, choice: ServerChoice): boolean {
  return choice === 'any' || !(isStandby || (choice === 'read-write' && isReadOnly));
}

/** 0 for a server that does not tell, as some managed ones do. */
export async function readTimeline(client: pg.ClientBase): Promise<number> {
  const { rows } = await client
    .query<{ timeline: string }>(READ_TIMELINE)
    .catch(() => ({ rows: [] as { timeline: string }[] }));
  return Number(rows[0]?.timeline ?? 0);
}
