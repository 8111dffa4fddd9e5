// Keys by their names in the log, deleted ones included.
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { KeyHashes } from '../keys/key-hashes.js';

@Injectable()
export class LoggedKeys {
  constructor(
    private readonly database: Database,
    private readonly keyHashes: KeyHashes,
  ) {}

  /** Ids by hash of the record or of a valid secret, without keys of other accounts. */
  async findIds(accountId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const keys = await this.keyHashes.find(accountId, hashes);
    return new Map([...keys].map(([hash, { id }]) => [hash, id]));
  }

  /** Hashes by id. */
  async findHashes(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const keys = await this.database.prisma.apiKey.findMany({
      select: { id: true, hash: true },
      where: { accountId, id: { in: [...ids] } },
    });
    return new Map(keys.map(({ id, hash }) => [id, hash]));
  }

  async listIdsOfCreator(accountId: string, creatorUserId: string): Promise<readonly string[]> {
    const keys = await this.database.prisma.apiKey.findMany({
      select: { id: true },
      where: { accountId, creatorUserId },
    });
    return keys.map(({ id }) => id);
  }
}
