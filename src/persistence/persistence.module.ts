// The only way to the database.
import { Global, Module } from '@nestjs/common';
import { AccountsRepository } from './accounts.repository.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ConfigCipher } from './config-cipher.js';
import { Database } from './database.js';
import { DestinationsRepository } from './destinations.repository.js';
import { EncryptionKeyCheck } from './encryption-key-check.js';
import { GenerationLog } from './generation-log.js';
import { GenerationsRepository } from './generations.repository.js';
import { Notifications } from './notifications.js';
import { Partitions } from './partitions.js';
import { ProviderCredentialsRepository } from './provider-credentials.repository.js';
import { Readiness } from './readiness.js';
import { SpendLedger } from './spend-ledger.js';
import { SpendTermsRepository } from './spend-terms.repository.js';

const REPOSITORIES = [
  AccountsRepository,
  ApiKeysRepository,
  DestinationsRepository,
  GenerationLog,
  GenerationsRepository,
  ProviderCredentialsRepository,
  SpendLedger,
  SpendTermsRepository,
];

@Global()
@Module({
  providers: [
    Database,
    ConfigCipher,
    EncryptionKeyCheck,
    Notifications,
    Partitions,
    Readiness,
    ...REPOSITORIES,
  ],
  exports: [ConfigCipher, Notifications, Readiness, ...REPOSITORIES],
})
export class PersistenceModule {}
