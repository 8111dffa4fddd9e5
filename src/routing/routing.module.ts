// Chooses the endpoints of a call.
import { Module } from '@nestjs/common';
import {
  AliasCatalogue,
  Catalogue,
  ChatCatalogue,
  RerankCatalogue,
  UnlistedCatalogue,
} from '../catalogue/catalogue.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { CatalogueSource } from './catalogue-source.js';
import { DiscoveredNames } from './discovered-names.js';
import { ChatPlanner } from './chat/chat-planner.js';
import { MovingAliases } from './chat/moving-aliases.js';
import { ReasoningOrigins } from './chat/reasoning-origins.js';
import { UnlistedModels } from './chat/unlisted-models.js';
import { StickyRoutes } from './chat/sticky-routes.js';
import { ChatRouter } from './chat/chat-router.js';
import { AccessTokens } from './credentials/access-tokens.js';
import { CredentialAccess, OwnCredentialsCache } from './credentials/credential-access.js';
import { CredentialCircuits } from './credentials/credential-circuits.js';
import { EmbeddingRouter } from './embeddings/embedding-router.js';
import { EndpointAttempts } from './fallback/endpoint-attempts.js';
import { EndpointCaller } from './endpoints/endpoint-caller.js';
import { EndpointReports } from './endpoint-reports.js';
import { EndpointHealthRegistry } from './endpoints/endpoint-health-registry.js';
import { EndpointFallback } from './fallback/endpoint-fallback.js';
import { DailyHits } from './guardrails/daily-hits.js';
import { ContentFilters } from './guardrails/content-filters.js';
import { GuardrailNames } from './guardrails/guardrail-names.js';
import { Guardrails } from './guardrails/guardrails.js';
import { ProviderNames } from './provider-names.js';
import { RetryPolicy } from './fallback/retry-policy.js';
import { RoutePlanner } from './embeddings/route-planner.js';
import { RerankPlanner } from './rerank/rerank-planner.js';
import { RerankRouter } from './rerank/rerank-router.js';
import { RoutingMetrics } from './routing-metrics.js';
import { StoredCatalogue } from './stored-catalogue.js';

@Module({
  providers: [
    {
      provide: CatalogueSource,
      useFactory: (config: AppConfig, clock: Clock) => new CatalogueSource(config.catalogueFile, clock),
      inject: [AppConfig, Clock],
    },
    {
      provide: Catalogue,
      useFactory: (source: CatalogueSource) => source.catalogue,
      inject: [CatalogueSource],
    },
    {
      provide: ChatCatalogue,
      useFactory: (source: CatalogueSource) => source.chatCatalogue,
      inject: [CatalogueSource],
    },
    {
      provide: RerankCatalogue,
      useFactory: (source: CatalogueSource) => source.rerankCatalogue,
      inject: [CatalogueSource],
    },
    {
      provide: AliasCatalogue,
      useFactory: (source: CatalogueSource) => source.aliasCatalogue,
      inject: [CatalogueSource],
    },
    {
      provide: UnlistedCatalogue,
      useFactory: (source: CatalogueSource) => source.unlistedCatalogue,
      inject: [CatalogueSource],
    },
    AccessTokens,
    CredentialCircuits,
    DiscoveredNames,
    UnlistedModels,
    EmbeddingRouter,
    EndpointAttempts,
    EndpointCaller,
    EndpointFallback,
    EndpointReports,
    EndpointHealthRegistry,
    OwnCredentialsCache,
    ChatPlanner,
    MovingAliases,
    StickyRoutes,
    ReasoningOrigins,
    ChatRouter,
    CredentialAccess,
    ContentFilters,
    DailyHits,
    GuardrailNames,
    Guardrails,
    ProviderNames,
    RetryPolicy,
    RerankPlanner,
    RerankRouter,
    RoutePlanner,
    RoutingMetrics,
    StoredCatalogue,
  ],
  exports: [
    AccessTokens,
    AliasCatalogue,
    Catalogue,
    CatalogueSource,
    ChatCatalogue,
    ChatPlanner,
    ChatRouter,
    CredentialAccess,
    DiscoveredNames,
    EmbeddingRouter,
    EndpointCaller,
    EndpointReports,
    ContentFilters,
    GuardrailNames,
    Guardrails,
    MovingAliases,
    RerankCatalogue,
    RerankPlanner,
    RerankRouter,
    RoutePlanner,
    StoredCatalogue,
    UnlistedModels,
  ],
})
export class RoutingModule {}
