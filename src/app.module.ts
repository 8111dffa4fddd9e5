// The modules of the service.
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { ActivityModule } from './activity/activity.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { API_PREFIX } from './runtime/base-url.js';
import { GenerationEventsModule } from './deliveries/generation-events.module.js';
import { DeliveriesModule } from './deliveries/deliveries.module.js';
import { ByokModule } from './byok/byok.module.js';
import type { AppConfig } from './config/app-config.js';
import { ConfigModule } from './config/config.module.js';
import { ConsoleModule } from './console/console.module.js';
import { CreditsModule } from './credits/credits.module.js';
import { DestinationsModule } from './destinations/destinations.module.js';
import { ChatModule } from './chat/chat.module.js';
import { EmbeddingsModule } from './embeddings/embeddings.module.js';
import { FederationModule } from './federation/federation.module.js';
import { RerankModule } from './rerank/rerank.module.js';
import { GenerationsModule } from './generations/generations.module.js';
import { GuardrailsModule } from './guardrails/guardrails.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { JsonBodyModule } from './http/body/json-body.module.js';
import { HistoryModule } from './history/history.module.js';
import { KeysModule } from './keys/keys.module.js';
import { ModelsModule } from './models/models.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { OutboundModule } from './outbound/outbound.module.js';
import { PeopleModule } from './people/people.module.js';
import { PersistenceModule } from './persistence/persistence.module.js';
import { RefusalsModule } from './refusals/refusals.module.js';
import { SearchModule } from './search/search.module.js';
import { SystemModule } from './system/system.module.js';
import { ContentUpkeepModule, RollupModule, UpkeepModule } from './upkeep/upkeep.module.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

// The operations of the contract, under the version prefix. Not Nest's global prefix: that one hides the rest of the
// path from the error filter. Express tries the routes in this order: the busiest come first.
const API_MODULES = [
  ChatModule,
  EmbeddingsModule,
  RerankModule,
  DestinationsModule,
  KeysModule,
  ModelsModule,
  GenerationsModule,
  AuditModule,
  WorkspacesModule,
  GuardrailsModule,
  FederationModule,
  PeopleModule,
  ByokModule,
  CreditsModule,
  NotificationsModule,
  ActivityModule,
  RefusalsModule,
  SearchModule,
  SystemModule,
];

@Module({})
export class AppModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        PersistenceModule,
        OutboundModule,
        HistoryModule,
        UpkeepModule,
        RollupModule,
        HttpModule,
        AuthModule,
        JsonBodyModule,
        GenerationEventsModule,
        ...(config.role === 'all' ? [DeliveriesModule, ContentUpkeepModule] : []),
        HealthModule,
        ...API_MODULES,
        ...(config.console ? [ConsoleModule] : []),
        RouterModule.register(API_MODULES.map((module) => ({ path: API_PREFIX, module }))),
      ],
    };
  }
}
