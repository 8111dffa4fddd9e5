// Keys by their names in the log, deleted ones included.
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { KeyHashes } from '../keys/key-hashes.js';

export interface LoggedKeyNames {
  readonly hash: string;
  readonly name: string;
}

export interface LoggedKey {
  readonly id: string;
  readonly workspaceId: string;
}

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

  async listIdsOfCreator(accountId: string, creatorUserId: string): Promise<readonly string[]> {
    const keys = await this.database.prisma.apiKey.findMany({
      select: { id: true },
      where: { accountId, creatorUserId },
    });
    return keys.map(({ id }) => id);
  }
}
