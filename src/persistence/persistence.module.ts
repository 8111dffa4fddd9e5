// The only module that accesses the database.
import { Global, Module } from '@nestjs/common';
import { AccountsRepository } from './workspaces/accounts.repository.js';
import {
  ActivityRollupRepository,
  UsageRollupRepository,
  UserRollupRepository,
} from './activity/activity-rollup.repository.js';
import { ActivityRepository } from './activity/activity.repository.js';
import { AnalyticsRepository } from './activity/analytics.repository.js';
import { ApiKeysRepository } from './keys/api-keys.repository.js';
import { AuditLogRepository } from './audit/audit-log.repository.js';
import { ConfigCipher, EncryptionKeyCheck } from './encryption/config-cipher.js';
import { DatabaseMetrics } from './database/database-metrics.js';
import { AuthCodesRepository } from './keys/auth-codes.repository.js';
import { ConsoleSessionsRepository } from './keys/console-sessions.repository.js';
import { GroupMappingsRepository } from './people/group-mappings.repository.js';
import { OwnKeyPoliciesRepository } from './keys/own-key-policies.repository.js';
import { PeopleRepository } from './people/people.repository.js';
import { SignInsRepository } from './people/sign-ins.repository.js';
import { Database } from './database/database.js';
import { DeadLettersRepository } from './deliveries/dead-letters.repository.js';
import { DeliveryCursorsRepository } from './deliveries/delivery-cursors.repository.js';
import { DeliveryStatesRepository } from './deliveries/delivery-states.repository.js';
import { DestinationsRepository } from './destinations/destinations.repository.js';
import { AccessTokensRepository } from './federation/access-tokens.repository.js';
import { FederationPoliciesRepository } from './federation/federation-policies.repository.js';
import { GenerationContents } from './contents/generation-contents.js';
import { GenerationListRepository } from './generations/generation-list.repository.js';
import { GenerationLog } from './generations/generation-log.js';
import { GenerationReader } from './generations/generation-reader.js';
import { CallReaches } from './generations/call-reaches.js';
import { GenerationsRepository } from './generations/generations.repository.js';
import { LoggedKeys } from './generations/logged-keys.js';
import { GuardrailAssignmentsRepository } from './guardrails/guardrail-assignments.repository.js';
import { GuardrailUsageRepository } from './guardrails/guardrail-usage.repository.js';
import { GuardrailsRepository } from './guardrails/guardrails.repository.js';
import { HistoryCopyRepository } from './history/history-copy.repository.js';
import { LoginKeysRepository } from './keys/login-keys.repository.js';
import { KeyHashes } from './keys/key-hashes.js';
import { CatalogueImportsRepository } from './catalogue/catalogue-imports.repository.js';
import { CatalogueRevisionsRepository } from './catalogue/catalogue-revisions.repository.js';
import { BudgetSubjectsRepository } from './notifications/budget-subjects.repository.js';
import { CrossingsRepository } from './notifications/crossings.repository.js';
import { NotificationQueuesRepository } from './notifications/notification-queues.repository.js';
import { NotificationRulesRepository } from './notifications/notification-rules.repository.js';
import { Installation } from './database/installation.js';
import { Notifications } from './database/notifications.js';
import { PresetsRepository } from './presets/presets.repository.js';
import { ModelUseRepository } from './catalogue/model-use.repository.js';
import { ProviderModelsRepository } from './catalogue/provider-models.repository.js';
import { ProviderCredentialsRepository } from './keys/provider-credentials.repository.js';
import { LogHorizonReader } from './generations/log-horizon.js';
import { Readiness } from './database/readiness.js';
import { RefusalsRepository } from './refusals/refusals.repository.js';
import { ReplayLimitsRepository } from './deliveries/replay-limits.repository.js';
import { Reports } from './database/reports.js';
import { SearchRepository } from './search/search.repository.js';
import { LapsedReservations } from './spend/lapsed-reservations.js';
import { LeaseProcess } from './spend/lease-process.js';
import { SpendLedger } from './spend/spend-ledger.js';
import { SpendPolicyRepository } from './spend/spend-policy.repository.js';
import { SystemStateRepository } from './database/system-state.repository.js';
import { StorageUsage } from './contents/storage-usage.js';
import { WorkspaceBudgetsRepository } from './workspaces/workspace-budgets.repository.js';
import { WorkspaceMembersRepository } from './workspaces/workspace-members.repository.js';
import { WorkspacesRepository } from './workspaces/workspaces.repository.js';

const REPOSITORIES = [
  AccessTokensRepository,
  AccountsRepository,
  ActivityRepository,
  ActivityRollupRepository,
  AnalyticsRepository,
  ApiKeysRepository,
  AuditLogRepository,
  AuthCodesRepository,
  BudgetSubjectsRepository,
  CallReaches,
  CatalogueImportsRepository,
  CatalogueRevisionsRepository,
  CrossingsRepository,
  ConsoleSessionsRepository,
  PeopleRepository,
  DeadLettersRepository,
  DeliveryCursorsRepository,
  DeliveryStatesRepository,
  DestinationsRepository,
  FederationPoliciesRepository,
  GenerationContents,
  GenerationListRepository,
  GenerationLog,
  GenerationReader,
  GenerationsRepository,
  GroupMappingsRepository,
  GuardrailAssignmentsRepository,
  GuardrailUsageRepository,
  GuardrailsRepository,
  HistoryCopyRepository,
  KeyHashes,
  LoggedKeys,
  LoginKeysRepository,
  ModelUseRepository,
  NotificationQueuesRepository,
  NotificationRulesRepository,
  OwnKeyPoliciesRepository,
  PresetsRepository,
  ProviderCredentialsRepository,
  ProviderModelsRepository,
  RefusalsRepository,
  ReplayLimitsRepository,
  SearchRepository,
  SignInsRepository,
  SpendLedger,
  SpendPolicyRepository,
  StorageUsage,
  SystemStateRepository,
  UsageRollupRepository,
  UserRollupRepository,
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
    EncryptionKeyCheck,
    Installation,
    Notifications,
    LapsedReservations,
    LeaseProcess,
    LogHorizonReader,
    Readiness,
    Reports,
    ...REPOSITORIES,
  ],
  exports: [
    ConfigCipher,
    Database,
    Installation,
    LogHorizonReader,
    Notifications,
    Readiness,
    ...REPOSITORIES,
  ],
})
export class PersistenceModule {}
