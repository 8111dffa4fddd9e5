// Customers' own keys at providers, encrypted at rest.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { maskSecret } from '../../domain/text/masking.js';
import type { DescribeChange } from '../../domain/audit.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { MAX_CREDENTIALS_PER_PROVIDER, withinLimit } from '../../domain/providers/provider-credential.js';
import type {
  NewProviderCredential,
  ProviderCredential,
  ProviderCredentialChange,
  ProviderCredentialRecord,
} from '../../domain/providers/provider-credential.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { ConfigCipher } from '../encryption/config-cipher.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import type { Prisma } from '../generated/client.js';
import type { ProviderCredentialModel as ProviderCredentialRow } from '../generated/models.js';
import { lockRow } from '../database/rows/row-lock.js';

interface Secret {
  readonly apiKey: string;
}

const ORDER: Prisma.ProviderCredentialOrderByWithRelationInput[] = [
  { sortOrder: 'asc' },
  { createdAt: 'asc' },
  { id: 'asc' },
];
/** The secret of a deleted credential. */
const NO_SECRET = new Uint8Array(0);

@Injectable()
export class ProviderCredentialsRepository {
  private readonly logger = new Logger(ProviderCredentialsRepository.name);
  /** Ids of credentials that could not be decrypted: each is logged once. */
  private readonly reported = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Throws `limit_reached` when the workspace has the maximum of credentials of the provider. `describe` is absent only
   * where no account's key creates the credential.
   */
  async create(
    { apiKey, ...credential }: NewProviderCredential,
    describe?: DescribeChange<ProviderCredentialRecord>,
  ): Promise<ProviderCredential> {
    const now = this.clock.now();
    const id = uuidV7(now);
    const row = await this.database.transact(async (transaction) => {
      await rejectOneTooMany(transaction, credential);
      const created = await transaction.providerCredential.create({
        data: { ...toColumns(credential), ...this.secretColumns(apiKey, id), id, createdAt: now },
      });
      if (describe) await this.audit.record(describe(null, toRecord(created)), transaction);
      return created;
    }, credential.accountId);
    return this.toCredential(row);
  }

  async find(accountId: string, id: string): Promise<ProviderCredentialRecord | null> {
    const row = await this.database.prisma.providerCredential.findUnique({ where: living(accountId, id) });
    return row && toRecord(row);
  }

  /** With its secret; null in it: it cannot be decrypted. */
  async findDecrypted(accountId: string, id: string): Promise<ProviderCredential | null> {
    const row = await this.database.prisma.providerCredential.findUnique({ where: living(accountId, id) });
    return row && this.toCredential(row);
  }

  /** In the order of use. */
  async list(
    scope: { readonly workspaceId: string; readonly provider: string | undefined },
    { offset, limit }: PageRequest,
  ): Promise<Page<ProviderCredentialRecord>> {
    const { workspaceId, provider } = scope;
    const where = { workspaceId, deletedAt: null, ...(provider === undefined ? {} : { provider }) };
    const [rows, total] = await Promise.all([
      this.database.prisma.providerCredential.findMany({ where, orderBy: ORDER, skip: offset, take: limit }),
      this.database.prisma.providerCredential.count({ where }),
    ]);
    return { items: rows.map(toRecord), total };
  }

  /** Null: there is none. `decide` returns the change, or throws; the row is locked until the commit. */
  async update(
    accountId: string,
    id: string,
    decide: (before: ProviderCredentialRecord) => ProviderCredentialChange,
    describe: DescribeChange<ProviderCredentialRecord>,
  ): Promise<ProviderCredentialRecord | null> {
    return this.database.transact(async (transaction) => {
      await lockRow(transaction, 'provider_credentials', { accountId, id });
      const row = await transaction.providerCredential.findUnique({ where: living(accountId, id) });
      if (!row) return null;
      const before = toRecord(row);
      const { apiKey, ...change } = decide(before);
      const changed = await transaction.providerCredential.update({
        where: living(accountId, id),
        data: {
          ...toColumns(change),
          // By the row's id: a path may spell it in capitals.
          ...(apiKey === undefined ? {} : this.secretColumns(apiKey, row.id)),
          updatedAt: this.clock.now(),
        },
      });
      const after = toRecord(changed);
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /** The row stays, without its secret. False: there is none. */
  async delete(
    accountId: string,
    id: string,
    describe: DescribeChange<ProviderCredentialRecord>,
  ): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      await lockRow(transaction, 'provider_credentials', { accountId, id });
      const row = await transaction.providerCredential.findUnique({ where: living(accountId, id) });
      if (!row) return false;
      await transaction.providerCredential.update({
        where: living(accountId, id),
        data: { deletedAt: this.clock.now(), ciphertext: NO_SECRET },
      });
      await this.audit.record(describe(toRecord(row), null), transaction);
      return true;
    }, accountId);
  }

  /** The credentials that calls may use, decrypted, in the order of use. */
  async listForWorkspace(workspaceId: string): Promise<ProviderCredential[]> {
    const rows = await this.database.prisma.providerCredential.findMany({
      where: { workspaceId, deletedAt: null },
      orderBy: ORDER,
    });
    return withinLimit(rows).map(({ credential: row, mayServe }) =>
      mayServe ? this.toCredential(row) : Object.assign(toRecord(row), { apiKey: null }),
    );
  }

  private toCredential(row: ProviderCredentialRow): ProviderCredential {
    return { ...toRecord(row), apiKey: this.decryptKeyOf(row) };
  }

  private secretColumns(apiKey: string, id: string) {
    const secret: Secret = { apiKey };
    return { label: maskSecret(apiKey), ...this.cipher.encrypt(secret, id) };
  }

  /** One unreadable row must not cost its workspace the others. */
  private decryptKeyOf({ id, ciphertext, encryptionKeyId }: ProviderCredentialRow): string | null {
    try {
      return (this.cipher.decrypt({ ciphertext, encryptionKeyId }, id) as Secret).apiKey;
    } catch {
      // Without the error: it may quote decrypted text.
      if (!this.reported.has(id)) {
        this.logger.warn(
          `the provider credential ${id}, encrypted with the key ${encryptionKeyId}, cannot be read and is not used`,
        );
      }
      this.reported.add(id);
      return null;
    }
  }
}

function living(accountId: string, id: string) {
  return { accountId_id: { accountId, id }, deletedAt: null };
}

/** Prisma's types accept only mutable lists. */
function toColumns<Members extends object>(members: Members): Columns<Members> {
  return members as Columns<Members>;
}

type Columns<Members> = {
  [Name in keyof Members]: Exclude<Members[Name], undefined> extends readonly string[]
    ? string[]
    : Exclude<Members[Name], undefined>;
};

/** Concurrent creations in one workspace wait here, so that the count is exact. */
async function rejectOneTooMany(
  transaction: Transaction,
  { accountId, workspaceId, provider }: Pick<ProviderCredential, 'accountId' | 'workspaceId' | 'provider'>,
): Promise<void> {
  await lockRow(transaction, 'workspaces', { accountId, id: workspaceId });
  const where = { workspaceId, provider, deletedAt: null };
  const count = await transaction.providerCredential.count({ where });
  if (count < MAX_CREDENTIALS_PER_PROVIDER) return;
  throw new AppError('limit_reached', {
    detail: `workspace ${workspaceId} has ${count} provider credentials for ${provider}, of at most ${MAX_CREDENTIALS_PER_PROVIDER}; delete one, or replace its key with PATCH /byok/{id}`,
  });
}

function toRecord(row: ProviderCredentialRow): ProviderCredentialRecord {
  return {
    id: row.id,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    provider: row.provider,
    name: row.name,
    label: row.label,
    disabled: row.disabled,
    isFallback: row.isFallback,
    isRequired: row.isRequired,
    isByokOnly: row.isByokOnly,
    sortOrder: row.sortOrder,
    allowedModels: row.allowedModels,
    allowedApiKeyHashes: row.allowedApiKeyHashes,
    allowedUserIds: row.allowedUserIds,
    declaredZdr: row.declaredZdr,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
