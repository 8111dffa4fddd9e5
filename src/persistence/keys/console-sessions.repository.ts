// Sessions of the console. Triggers end those of a disabled or deleted key, and announce every end.
import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { ConsoleSession } from '../../domain/keys/console-session.js';
import { MAX_SESSION_AGE } from '../../domain/keys/console-session.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';

// Sessions of a key beyond this number end, the oldest first.
const MAX_PER_KEY = 20;
// Expired sessions that one sign-in removes.
const SWEEP = 100;

/**
 * $1 the hash of the id, $2 of the secret, $3 now. The lock makes a sign-in and a change of its key wait for each other: no session
 * is created after the change that would have ended it.
 */
const CREATE = `
WITH key AS (
  SELECT key.workspace_id, key.id FROM api_key_secrets AS secret
  JOIN api_keys AS key ON key.workspace_id = secret.workspace_id AND key.id = secret.api_key_id
  WHERE secret.secret_hash = $2 AND NOT key.disabled AND key.deleted_at IS NULL
  FOR SHARE OF key
)
INSERT INTO console_sessions (id_hash, workspace_id, api_key_id, secret_hash, created_at, last_seen_at)
SELECT $1, key.workspace_id, key.id, $2, $3, $3 FROM key
RETURNING 1`;

/** $1 workspace, $2 key. */
const TRIM = `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE workspace_id = $1 AND api_key_id = $2
  ORDER BY created_at DESC, id_hash OFFSET ${MAX_PER_KEY}
)`;

/** $1 a moment. Skips rows that another process is removing. */
const REMOVE_EXPIRED = `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE created_at <= $1
  ORDER BY created_at LIMIT ${SWEEP} FOR UPDATE SKIP LOCKED
)`;

@Injectable()
export class ConsoleSessionsRepository {
  private readonly sessions = new BatchReader<string, ConsoleSession>({
    idOf: (idHash) => idHash,
    read: (idHashes) => this.read(idHashes),
  });

  constructor(private readonly database: Database) {}

  /** False: the key was disabled, deleted or rotated. Removes surplus sessions of the key, and expired ones. */
  async create(key: ApiKey, { idHash, secretHash, createdAt }: ConsoleSession): Promise<boolean> {
    const expired = new Date(createdAt.getTime() - MAX_SESSION_AGE);
    return this.database.writeWithin(async (run) => {
      const created = await run({ text: CREATE, values: [idHash, secretHash, createdAt] });
      await run({ text: TRIM, values: [key.workspaceId, key.id] });
      await run({ text: REMOVE_EXPIRED, values: [expired] });
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
      select: { idHash: true, secretHash: true, createdAt: true, lastSeenAt: true },
      where: { idHash: { in: [...idHashes] } },
    });
    return new Map(sessions.map((session) => [session.idHash, session]));
  }
}
