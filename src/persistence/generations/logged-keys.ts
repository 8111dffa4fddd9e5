// Keys by their names in the log, deleted ones included.
import { Injectable } from '@nestjs/common';
import { reachesCallsOf } from '../../domain/generations/call-reach.js';
import type { CallReach, ReachedKey } from '../../domain/generations/call-reach.js';
import { Database } from '../database/database.js';
import { KeyHashes } from '../keys/key-hashes.js';

export interface LoggedKeyNames {
  readonly hash: string;
  readonly name: string;
}

export type LoggedKey = ReachedKey;

/** $1 account, $2 creator, $3 workspaces (null: all of the account), $4 keys at most (null: no bound). Deleted keys have calls in the log as well. */
const LIST_OF_CREATOR = `
SELECT key.id, key.workspace_id AS "workspaceId"
FROM workspaces AS workspace JOIN api_keys AS key ON key.workspace_id = workspace.id AND key.creator_user_id = $2
WHERE workspace.account_id = $1 AND ($3::uuid[] IS NULL OR workspace.id = ANY($3::uuid[]))
ORDER BY key.created_at DESC, key.id DESC LIMIT $4`;

@Injectable()
export class LoggedKeys {
  constructor(
    private readonly database: Database,
    private readonly keyHashes: KeyHashes,
  ) {}

  /** By hash of the record or of a valid secret, without keys of other accounts. */
  async findAll(accountId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, LoggedKey>> {
    return this.keyHashes.find(accountId, hashes);
  }

  /** Hashes by id. */
  async findHashes(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map([...(await this.findNames(accountId, ids))].map(([id, { hash }]) => [id, hash]));
  }

  /** Hashes and names by id. */
  async findNames(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, LoggedKeyNames>> {
    const keys = await this.database.prisma.apiKey.findMany({
      select: { id: true, hash: true, name: true },
      where: { accountId, id: { in: [...ids] } },
    });
    return new Map(keys.map(({ id, hash, name }) => [id, { hash, name }]));
  }

  /** By the hash of the record or of a valid secret. Null: the account has no such key. */
  async find(accountId: string, hash: string): Promise<LoggedKey | null> {
    return (await this.findAll(accountId, [hash])).get(hash) ?? null;
  }

  /** The same; null as well: the calls of the key are out of reach. */
  async findWithin(accountId: string, reach: CallReach, hash: string): Promise<LoggedKey | null> {
    const key = await this.find(accountId, hash);
    return key !== null && reachesCallsOf(reach, key) ? key : null;
  }

  /** The newest first. */
  async listOfCreator(
    accountId: string,
    creatorUserId: string,
    bounds: { readonly workspaceIds?: readonly string[] | null; readonly limit?: number } = {},
  ): Promise<readonly LoggedKey[]> {
    const { workspaceIds = null, limit = null } = bounds;
    return this.database.query<LoggedKey & Record<string, unknown>>({
      text: LIST_OF_CREATOR,
      values: [accountId, creatorUserId, workspaceIds, limit],
    });
  }
}
