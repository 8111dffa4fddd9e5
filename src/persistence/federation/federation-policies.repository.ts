// Federation policies of accounts.
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { MAX_POLICIES_PER_ACCOUNT } from '../../domain/federation/federation-policy.js';
import type {
  FederationPolicy,
  PolicyKey,
  PolicySettings,
  PublicKeySet,
  RequiredClaims,
} from '../../domain/federation/federation-policy.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import { lockAccount } from '../database/rows/row-lock.js';
import { Prisma } from '../generated/client.js';
import type { ApiKeyModel, FederationPolicyModel } from '../generated/models.js';

type Describe = DescribeChange<FederationPolicy>;

/** The settings and the key after a change. */
export type ChangePolicy = (before: FederationPolicy) => PolicySettings & { readonly key: PolicyKey };

interface PolicyRow extends FederationPolicyModel {
  readonly apiKey: Pick<ApiKeyModel, 'hash'>;
}

/** A policy, and the end of its key. */
export interface PolicyForExchange extends FederationPolicy {
  readonly keyExpiresAt: Date | null;
}

const WITH_KEY = { apiKey: { select: { hash: true, expiresAt: true } } } as const;

@Injectable()
export class FederationPoliciesRepository {
  private readonly forExchanges = new BatchReader<string, PolicyForExchange>({
    idOf: (id) => id,
    read: (ids) => this.readForExchanges(ids),
  });

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list(accountId: string, { offset, limit }: PageRequest): Promise<Page<FederationPolicy>> {
    const where = { accountId };
    const [rows, total] = await Promise.all([
      this.database.prisma.federationPolicy.findMany({
        where,
        include: WITH_KEY,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.federationPolicy.count({ where }),
    ]);
    return { items: rows.map(toPolicy), total };
  }

  /** Null: the account has no such policy. */
  async find(accountId: string, id: string): Promise<FederationPolicy | null> {
    const row = await this.database.prisma.federationPolicy.findUnique({
      where: { accountId_id: { accountId, id } },
      include: WITH_KEY,
    });
    return row && toPolicy(row);
  }

  /** Of whatever account: who exchanges a token names the policy alone. Batched: however many ids are guessed, few statements run. */
  async findForExchange(id: string): Promise<PolicyForExchange | null> {
    return this.forExchanges.find(id);
  }

  private async readForExchanges(ids: readonly string[]): Promise<ReadonlyMap<string, PolicyForExchange>> {
    const rows = await this.database.prisma.federationPolicy.findMany({
      where: { id: { in: [...ids] } },
      include: WITH_KEY,
    });
    return new Map(rows.map((row) => [row.id, { ...toPolicy(row), keyExpiresAt: row.apiKey.expiresAt }]));
  }

  /** Throws `limit_reached`. */
  async create(
    accountId: string,
    { key, ...settings }: PolicySettings & { readonly key: PolicyKey },
    describe: Describe,
  ): Promise<FederationPolicy> {
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      // Concurrent creations of the account wait here, so that the limit is exact.
      await lockAccount(transaction, accountId);
      const count = await transaction.federationPolicy.count({ where: { accountId } });
      if (count >= MAX_POLICIES_PER_ACCOUNT)
        throw new AppError('limit_reached', {
          detail: `the account has ${MAX_POLICIES_PER_ACCOUNT} federation policies, which is the limit; delete one of them first`,
        });
      const row = await transaction.federationPolicy.create({
        data: { ...toColumns(settings, key), accountId, id: uuidV7(now), createdAt: now },
        include: WITH_KEY,
      });
      const created = toPolicy(row);
      await this.audit.record(describe(null, created), transaction);
      return created;
    }, accountId);
  }

  /** A trigger ends its access tokens, unless only the name changes. Null: the account has no such policy. */
  async change(
    accountId: string,
    id: string,
    change: ChangePolicy,
    describe: Describe,
  ): Promise<FederationPolicy | null> {
    const where = { accountId_id: { accountId, id } };
    return this.database.transact(async (transaction) => {
      // An update to the same value locks the row: changes of one policy are serialised.
      const { count } = await transaction.federationPolicy.updateMany({
        where: { accountId, id },
        data: { accountId },
      });
      const row =
        count === 0 ? null : await transaction.federationPolicy.findUnique({ where, include: WITH_KEY });
      if (!row) return null;
      const before = toPolicy(row);
      const { key, ...settings } = change(before);
      const data = toColumns(settings, key);
      if (isDeepStrictEqual(data, toColumns(before, before.key))) return before;
      const after = toPolicy(
        await transaction.federationPolicy.update({
          where,
          data: { ...data, updatedAt: this.clock.now() },
          include: WITH_KEY,
        }),
      );
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /** Its access tokens end with it. False: the account has no such policy. */
  async delete(accountId: string, id: string, describe: Describe): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const row = await transaction.federationPolicy.findUnique({
        where: { accountId_id: { accountId, id } },
        include: WITH_KEY,
      });
      // Of concurrent deletions only one removes it.
      const { count } = await transaction.federationPolicy.deleteMany({ where: { accountId, id } });
      if (count === 0 || !row) return false;
      await this.audit.record(describe(toPolicy(row), null), transaction);
      return true;
    }, accountId);
  }
}

function toColumns(settings: PolicySettings, key: PolicyKey) {
  return {
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    name: settings.name,
    issuer: settings.issuer,
    audience: settings.audience,
    subject: settings.subject,
    claims: { ...settings.claims },
    maxTtlSeconds: settings.maxTtlSeconds,
    jwks: settings.jwks === null ? Prisma.DbNull : { keys: settings.jwks.keys.map((one) => ({ ...one })) },
    jwksUrl: settings.jwksUrl,
    enabled: settings.enabled,
  };
}

function toPolicy(row: PolicyRow): FederationPolicy {
  return {
    accountId: row.accountId,
    id: row.id,
    key: { workspaceId: row.workspaceId, id: row.apiKeyId, hash: row.apiKey.hash },
    name: row.name,
    issuer: row.issuer,
    audience: row.audience,
    subject: row.subject,
    claims: row.claims as RequiredClaims,
    maxTtlSeconds: row.maxTtlSeconds,
    jwks: row.jwks as PublicKeySet | null,
    jwksUrl: row.jwksUrl,
    enabled: row.enabled,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
