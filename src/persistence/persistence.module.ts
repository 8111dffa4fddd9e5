// The only way to the database.
import { Global, Module } from '@nestjs/common';
import { AccountsRepository } from './accounts.repository.js';
import { ActivityRollupRepository } from './activity-rollup.repository.js';
import { ActivityRepository } from './activity.repository.js';
import { AnalyticsRepository } from './analytics.repository.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { AuditLogRepository } from './audit-log.repository.js';
import { ConfigCipher } from './config-cipher.js';
import { DatabaseMetrics } from './database-metrics.js';
import { Database } from './database.js';
import { DeadLettersRepository } from './dead-letters.repository.js';
import { DeletedRows } from './deleted-rows.js';
import { DeliveryCursorsRepository } from './delivery-cursors.repository.js';
import { DeliveryStatesRepository } from './delivery-states.repository.js';
import { DestinationsRepository } from './destinations.repository.js';
import { EncryptionKeyCheck } from './encryption-key-check.js';
import { GenerationContents } from './generation-contents.js';
import { GenerationLog } from './generation-log.js';
import { GenerationReader } from './generation-reader.js';
import { GenerationsRepository } from './generations.repository.js';
import { LoggedKeys } from './logged-keys.js';
import { Notifications } from './notifications.js';
import { Partitions } from './partitions.js';
import { ProviderCredentialsRepository } from './provider-credentials.repository.js';
import { LogHorizonReader } from './log-horizon.js';
import { Readiness } from './readiness.js';
import { ReplayLimitsRepository } from './replay-limits.repository.js';
import { Reports } from './reports.js';
import { SpendLedger } from './spend-ledger.js';
import { SpendTermsRepository } from './spend-terms.repository.js';
import { StorageUsage } from './storage-usage.js';
import { WorkspaceBudgetsRepository } from './workspace-budgets.repository.js';
import { WorkspaceMembersRepository } from './workspace-members.repository.js';
import { WorkspacesRepository } from './workspaces.repository.js';

const REPOSITORIES = [
  AccountsRepository,
  ActivityRepository,
  ActivityRollupRepository,
  AnalyticsRepository,
  ApiKeysRepository,
  AuditLogRepository,
  DeadLettersRepository,
  DeliveryCursorsRepository,
  DeliveryStatesRepository,
  DestinationsRepository,
  GenerationContents,
  GenerationLog,
  GenerationReader,
  GenerationsRepository,
  LoggedKeys,
  ProviderCredentialsRepository,
  ReplayLimitsRepository,
  SpendLedger,
  SpendTermsRepository,
  StorageUsage,
  WorkspaceBudgetsRepository,
  WorkspaceMembersRepository,
  WorkspacesRepository,
];

@Global()
@Module({
  providers: [
    Database,
    DatabaseMetrics,
    ConfigCipher,
    DeletedRows,
    EncryptionKeyCheck,
    Notifications,
    Partitions,
    LogHorizonReader,
    Readiness,
    Reports,
    ...REPOSITORIES,
  ],
  exports: [ConfigCipher, LogHorizonReader, Notifications, Readiness, ...REPOSITORIES],
})
export class PersistenceModule {}
