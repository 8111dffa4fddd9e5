import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { DiscoveryModule } from '../upkeep/upkeep.module.js';
import { CatalogueChanges } from './catalogue-changes.js';
import { CatalogueController } from './catalogue.controller.js';
import { CatalogueEntries } from './catalogue-entries.js';
import { CatalogueImportsController } from './catalogue-imports.controller.js';
import { CatalogueImportsService } from './catalogue-imports.service.js';
import { CatalogueService } from './catalogue.service.js';
import { EndpointsController } from './endpoints.controller.js';
import { ExpiringModelsService } from './expiring-models.service.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';
import { ProviderModelsController } from './provider-models.controller.js';
import { ProviderModelsService } from './provider-models.service.js';
import { ProviderTestService } from './provider-test.service.js';

@Module({
  imports: [AuthModule, DiscoveryModule, RoutingModule],
  controllers: [
    ModelsController,
    EndpointsController,
    CatalogueController,
    CatalogueImportsController,
    ProviderModelsController,
  ],
  providers: [
    CatalogueChanges,
    CatalogueEntries,
    CatalogueImportsService,
    CatalogueService,
    ExpiringModelsService,
    ModelsService,
    ProviderModelsService,
    ProviderTestService,
  ],
})
export class ModelsModule {}
