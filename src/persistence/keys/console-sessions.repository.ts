// Sessions of the console. Triggers end those of a disabled or deleted key, and announce every end.
import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { ConsoleSession, KeySession, PersonSession } from '../../domain/people/console-session.js';
import type { Person } from '../../domain/people/person.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';

// Sessions of a key or a person beyond this number end, the oldest first.
const MAX_PER_OWNER = 20;
// Expired sessions that one sign-in removes.
const SWEEP = 100;

/**
 * $1 the hash of the id, $2 of the secret, $3 now, $4 the end. The lock makes a sign-in and a change of its key wait for each other: no session
 * is created after the change that would have ended it.
 */
const CREATE = `
WITH key AS (
  SELECT key.workspace_id, key.id FROM api_key_secrets AS secret
  JOIN api_keys AS key ON key.workspace_id = secret.workspace_id AND key.id = secret.api_key_id
  WHERE secret.secret_hash = $2 AND NOT key.disabled AND key.deleted_at IS NULL
  FOR SHARE OF key
)
INSERT INTO console_sessions (id_hash, workspace_id, api_key_id, secret_hash, created_at, last_seen_at, ends_at)
SELECT $1, key.workspace_id, key.id, $2, $3, $3, $4 FROM key
RETURNING 1`;

/** $1 and $2 the values of the columns, which name the owner of the sessions. */
const trimOf = (first: string, second: string): string => `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE ${first} = $1 AND ${second} = $2
  ORDER BY created_at DESC, id_hash OFFSET ${MAX_PER_OWNER}
)`;
const TRIM_OF_KEY = trimOf('workspace_id', 'api_key_id');
const TRIM_OF_PERSON = trimOf('account_id', 'person_id');

/** $1 the hash of the id, $2 account, $3 person, $4 now, $5 the end. A sign-in and the end of its person wait for each other. */
const CREATE_FOR_PERSON = `
WITH person AS (
  SELECT account_id, id FROM persons WHERE account_id = $2 AND id = $3 AND disabled_at IS NULL FOR SHARE
)
INSERT INTO console_sessions (id_hash, account_id, person_id, created_at, last_seen_at, ends_at)
SELECT $1, person.account_id, person.id, $4, $4, $5 FROM person
RETURNING 1`;

/** $1 now. Skips rows that another process is removing. */
const REMOVE_EXPIRED = `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE ends_at <= $1
  ORDER BY ends_at LIMIT ${SWEEP} FOR UPDATE SKIP LOCKED
)`;

@Injectable()
export class ConsoleSessionsRepository {
  private readonly sessions = new BatchReader<string, ConsoleSession>({
    idOf: (idHash) => idHash,
    read: (idHashes) => this.read(idHashes),
  });

  constructor(private readonly database: Database) {}

  /** False: the key was disabled, deleted or rotated. Removes surplus sessions of the key, and expired ones. */
  async create(key: ApiKey, { idHash, secretHash, createdAt, endsAt }: KeySession): Promise<boolean> {
    return this.database.writeWithin(async (run) => {
      const created = await run({ text: CREATE, values: [idHash, secretHash, createdAt, endsAt] });
      await run({ text: TRIM_OF_KEY, values: [key.workspaceId, key.id] });
      await run({ text: REMOVE_EXPIRED, values: [createdAt] });
      return created.length > 0;
    });
  }

  /** False: the person was disabled. Removes surplus sessions of the person, and expired ones. */
  async createForPerson(
    { accountId, id }: Pick<Person, 'accountId' | 'id'>,
    { idHash, createdAt, endsAt }: PersonSession,
  ): Promise<boolean> {
    return this.database.writeWithin(async (run) => {
      const created = await run({
        text: CREATE_FOR_PERSON,
        values: [idHash, accountId, id, createdAt, endsAt],
      });
      await run({ text: TRIM_OF_PERSON, values: [accountId, id] });
      await run({ text: REMOVE_EXPIRED, values: [createdAt] });
      return created.length > 0;
    });
  }

  async find(idHash: string): Promise<ConsoleSession | null> {
    return this.sessions.find(idHash);
  }

  async recordSighting(idHash: string, at: Date): Promise<void> {
    await this.database.query({
      name: 'record-sighting',
      text: 'UPDATE console_sessions SET last_seen_at = $2 WHERE id_hash = $1 AND last_seen_at < $2',
      values: [idHash, at],
    });
  }

  /** Resolves when this process knows of the end. */
  async end(idHash: string): Promise<void> {
    await this.database.transact((transaction) =>
      transaction.consoleSession.deleteMany({ where: { idHash } }),
    );
  }

  /** Batched: however many ids are guessed, few statements run. */
  private async read(idHashes: readonly string[]): Promise<ReadonlyMap<string, ConsoleSession>> {
    const sessions = await this.database.prisma.consoleSession.findMany({
      select: {
        idHash: true,
        secretHash: true,
        personId: true,
        createdAt: true,
        lastSeenAt: true,
        endsAt: true,
      },
      where: { idHash: { in: [...idHashes] } },
    });
    return new Map(sessions.map((session) => [session.idHash, toSession(session)]));
  }
}

interface SessionRow extends Omit<KeySession, 'secretHash' | 'personId'> {
  readonly secretHash: string | null;
  readonly personId: string | null;
}

function toSession({ secretHash, personId, ...session }: SessionRow): ConsoleSession {
  if (personId !== null) return { ...session, secretHash: null, personId };
  if (secretHash !== null) return { ...session, secretHash, personId: null };
  throw new Error('a session has neither a secret nor a person');
}
