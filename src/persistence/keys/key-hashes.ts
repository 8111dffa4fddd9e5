// Finds keys by the hash of any of their valid secrets: a rotation changes the secret, and the record keeps its first hash
// (docs/contract.md#api-keys).
import { Injectable } from '@nestjs/common';
import type { Scope } from '../../domain/people/manager.js';
import { Clock } from '../../domain/clock.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import type { Prisma } from '../generated/client.js';
import { keysWhere } from './keys-in-reach.js';

interface KeyNames {
  readonly id: string;
  readonly workspaceId: string;
  /** The hash of the record. */
  readonly hash: string;
  readonly name: string;
}

/** Hashes for a list that stores the hashes of records. */
export interface CheckedHashes {
  /** Each record once. */
  readonly hashes: string[];
  /** Those that name no key within reach. */
  readonly unknown: string[];
}

@Injectable()
export class KeyHashes {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Keys by the given hashes, deleted ones included; without keys of other accounts. */
  async find(accountId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, KeyNames>> {
    return this.findWhere(accountId, hashes, {});
  }

  /** Hashes in `stored` may name deleted keys. */
  async check(
    { accountId, reach }: Scope,
    hashes: readonly string[],
    stored: readonly string[] = [],
  ): Promise<CheckedHashes> {
    const added = hashes.filter((hash) => !stored.includes(hash));
    const known = await this.findWhere(accountId, added, { deletedAt: null, ...keysWhere(reach) });
    const unknown = [...new Set(added)].filter((hash) => !known.has(hash));
    return { hashes: [...new Set(hashes.map((hash) => known.get(hash)?.hash ?? hash))], unknown };
  }

  private async findWhere(
    accountId: string,
    hashes: readonly string[],
    where: Prisma.ApiKeyWhereInput,
  ): Promise<ReadonlyMap<string, KeyNames>> {
    if (hashes.length === 0) return new Map();
    const { prisma } = this.database;
    const keys = await prisma.apiKey.findMany({
      select: { id: true, workspaceId: true, hash: true, name: true },
      where: { ...where, accountId, hash: { in: [...hashes] } },
    });
    const found = new Map(keys.map((key) => [key.hash, key]));
    const others = hashes.filter((hash) => !found.has(hash));
    if (others.length === 0) return found;
    const secrets = await prisma.apiKeySecret.findMany({
      select: {
        secretHash: true,
        apiKey: { select: { id: true, workspaceId: true, hash: true, name: true } },
      },
      where: { secretHash: { in: others }, ...validSecretOf(accountId, this.clock.now(), where) },
    });
    for (const { secretHash, apiKey } of secrets) found.set(secretHash, apiKey);
    return found;
  }
}

/** The hash of the record whose valid secret has the hash; null: the account has no such key. */
export async function recordHashOf(
  transaction: Pick<Transaction, 'apiKeySecret'>,
  accountId: string,
  secretHash: string,
  now: Date,
): Promise<string | null> {
  const secret = await transaction.apiKeySecret.findFirst({
    select: { apiKey: { select: { hash: true } } },
    where: { secretHash, ...validSecretOf(accountId, now) },
  });
  return secret?.apiKey.hash ?? null;
}

function validSecretOf(accountId: string, now: Date, where: Prisma.ApiKeyWhereInput = {}) {
  return {
    // An access token names no record.
    federationPolicyId: null,
    OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
    apiKey: { ...where, accountId, deletedAt: null },
  };
}
