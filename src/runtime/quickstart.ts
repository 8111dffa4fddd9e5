// The first account and its two keys, for `npm start` with an empty database of its own.
import { readDatabase } from '../config/app-config.js';
import { EnvironmentReader } from '../config/environment-reader.js';
import { createKeySecret, hashKeySecret } from '../domain/keys/api-key.js';
import type { ApiKeyKind } from '../domain/keys/api-key.js';
import { SystemClock } from '../domain/clock.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { AuditLogRepository } from '../persistence/audit/audit-log.repository.js';
import { Database } from '../persistence/database/database.js';
import { Reports } from '../persistence/database/reports.js';

export interface QuickstartKeys {
  readonly managementKey: string;
  readonly apiKey: string;
}

export interface Quickstart extends QuickstartKeys {
  /** The account of the management key. */
  readonly accountId: string;
}

/**
 * Keeps those of the `existing` keys that the database knows and creates the others, with an account if there is
 * none.
 */
export function ensureQuickstartKeys(options: {
  readonly databaseUrl: string;
  readonly existing?: QuickstartKeys | undefined;
}): Promise<Quickstart> {
  return withRepositories(options.databaseUrl, async (accounts, apiKeys) => {
    const keep = async (kind: ApiKeyKind, name: string, secret: string | undefined): Promise<string> => {
      const caller = secret === undefined ? null : await apiKeys.findCaller(hashKeySecret(secret));
      if (secret !== undefined && caller?.key.kind === kind) return secret;
      const accountId = (await accounts.findFirstId()) ?? (await accounts.create('Quickstart')).id;
      const created = createKeySecret();
      await apiKeys.create({
        accountId,
        workspaceId: await accounts.ensureWorkspace(accountId),
        kind,
        name,
        secret: created,
        limit: null,
        limitReset: null,
        includeByokInLimit: false,
        expiresAt: null,
        creatorUserId: null,
      });
      return created;
    };
    const managementKey = await keep('management', 'Quickstart management', options.existing?.managementKey);
    const apiKey = await keep('inference', 'Quickstart', options.existing?.apiKey);
    const owner = await apiKeys.findCaller(hashKeySecret(managementKey));
    return { managementKey, apiKey, accountId: owner?.key.accountId ?? '' };
  });
}

export function countManagementKeys(options: { readonly databaseUrl: string }): Promise<number> {
  return withRepositories(options.databaseUrl, (_accounts, apiKeys) => apiKeys.count('management'));
}

export async function withRepositories<Result>(
  databaseUrl: string,
  work: (accounts: AccountsRepository, apiKeys: ApiKeysRepository) => Promise<Result>,
): Promise<Result> {
  const clock = new SystemClock();
  const database = new Database(
    readDatabase(new EnvironmentReader({ ...process.env, DATABASE_URL: databaseUrl })),
  );
  try {
    const reports = new Reports(database);
    const auditLog = new AuditLogRepository(reports, clock);
    return await work(
      new AccountsRepository(database, clock),
      new ApiKeysRepository(database, clock, auditLog, reports),
    );
  } finally {
    await database.onApplicationShutdown();
  }
}
