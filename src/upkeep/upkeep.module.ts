// The work that runs by itself. Every process has it; the locks of its statements see to it that nothing is done twice.
import { Module } from '@nestjs/common';
import { HistoryCopyModule } from '../history/history.module.js';
import { ActivityRollup } from './activity-rollup.js';
import { ContentSweeper } from './content-sweeper.js';
import { DeletedRows } from './deleted-rows.js';
import { LogRetention } from './log-retention.js';
import { DiscoveryTask, ModelDiscovery } from './model-discovery.js';
import { Partitions } from './partitions.js';
import { StorageExchange } from './storage-exchange.js';

@Module({ providers: [DeletedRows, LogRetention, Partitions, StorageExchange] })
export class UpkeepModule {}

/** In the processes that answer calls. */
@Module({ providers: [ActivityRollup] })
export class RollupModule {}

@Module({ providers: [ModelDiscovery], exports: [ModelDiscovery] })
export class DiscoveryModule {}

/** In the processes that deliver traces. */
@Module({ imports: [DiscoveryModule, HistoryCopyModule], providers: [ContentSweeper, DiscoveryTask] })
export class ContentUpkeepModule {}
