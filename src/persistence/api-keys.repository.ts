// API keys, the secrets they are presented by, and what they have spent.
import { Injectable } from '@nestjs/common';
import { hashKeySecret, keyLabel } from '../domain/api-key.js';
import type { ApiKey, ApiKeyKind, ApiKeyWithSpend, Caller } from '../domain/api-key.js';
import { Clock } from '../domain/clock.js';
import { uuidV7 } from '../domain/identifiers.js';
import { formatUsd, parseUsd } from '../domain/money.js';
import type { PicoUsd } from '../domain/money.js';
import { LIMIT_RESETS, spendAt } from '../domain/spend.js';
import type { KeySpend, SpendLimit } from '../domain/spend.js';
import { Database } from './database.js';
import type { Prisma } from './generated/client.js';
import type { ApiKeyModel as ApiKeyRow, KeySpendModel as KeySpendRow } from './generated/models.js';

export interface NewApiKey extends SpendLimit {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  /** Only its hash and its label are stored. */
  readonly secret: string;
  readonly expiresAt: Date | null;
  readonly creatorUserId: string | null;
}

@Injectable()
export class ApiKeysRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async create(key: NewApiKey): Promise<ApiKey> {
    const now = this.clock.now();
    const hash = hashKeySecret(key.secret);
    const row = await this.database.prisma.apiKey.create({
      data: {
        id: uuidV7(now),
        accountId: key.accountId,
        workspaceId: key.workspaceId,
        hash,
        kind: key.kind,
        name: key.name,
        label: keyLabel(key.secret),
        limit: key.limit === null ? null : formatUsd(key.limit),
        limitReset: key.limitReset,
        includeByokInLimit: key.includeByokInLimit,
        creatorUserId: key.creatorUserId,
        expiresAt: key.expiresAt,
        createdAt: now,
        secrets: { create: { secretHash: hash, createdAt: now } },
      },
    });
    return toApiKey(row);
  }

  /** Who presents a secret: the one look-up of the request path that the cache in front of it misses. */
  async findCaller(secretHash: string): Promise<Caller | null> {
    const secret = await this.database.prisma.apiKeySecret.findUnique({
      where: { secretHash },
      include: { apiKey: true },
    });
    if (!secret || secret.apiKey.deletedAt) return null;
    return { key: toApiKey(secret.apiKey), secretExpiresAt: secret.expiresAt };
  }

  async findWithSpend(accountId: string, hash: string): Promise<ApiKeyWithSpend | null> {
    const row = await this.database.prisma.apiKey.findUnique({
      where: { accountId_hash: { accountId, hash }, deletedAt: null },
      include: { spend: true },
    });
    return row && { key: toApiKey(row), spend: this.toSpend(row.spend) };
  }

  async findSpend(key: ApiKey): Promise<KeySpend> {
    const row = await this.database.prisma.keySpend.findUnique({
      where: { workspaceId_apiKeyId: { workspaceId: key.workspaceId, apiKeyId: key.id } },
    });
    return this.toSpend(row);
  }

  /** Those of `hashes` that name no key of the account. */
  async findUnknownHashes(accountId: string, hashes: readonly string[]): Promise<string[]> {
    const known = await this.database.prisma.apiKey.findMany({
      select: { hash: true },
      where: { accountId, hash: { in: [...hashes] }, deletedAt: null },
    });
    const knownHashes = new Set(known.map(({ hash }) => hash));
    return hashes.filter((hash) => !knownHashes.has(hash));
  }

  async count(kind: ApiKeyKind): Promise<number> {
    return this.database.prisma.apiKey.count({ where: { kind, deletedAt: null } });
  }

  private toSpend(row: KeySpendRow | null): KeySpend {
    const now = this.clock.now();
    const windows = (
      total?: Prisma.Decimal,
      daily?: Prisma.Decimal,
      weekly?: Prisma.Decimal,
      monthly?: Prisma.Decimal,
    ) =>
      spendAt(
        { total: toUsd(total), daily: toUsd(daily), weekly: toUsd(weekly), monthly: toUsd(monthly) },
        row?.lastDay ?? now,
        now,
      );
    return {
      usage: windows(row?.total, row?.daily, row?.weekly, row?.monthly),
      byok: windows(row?.byokTotal, row?.byokDaily, row?.byokWeekly, row?.byokMonthly),
    };
  }
}

function toUsd(amount: Prisma.Decimal | undefined): PicoUsd {
  return amount === undefined ? 0n : parseUsd(amount.toFixed());
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    hash: row.hash,
    kind: row.kind === 'management' ? 'management' : 'inference',
    name: row.name,
    label: row.label,
    disabled: row.disabled,
    limit: row.limit === null ? null : parseUsd(row.limit.toFixed()),
    limitReset: LIMIT_RESETS.find((reset) => reset === row.limitReset) ?? null,
    includeByokInLimit: row.includeByokInLimit,
    creatorUserId: row.creatorUserId,
    externalUser: row.externalUser,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
  };
}
