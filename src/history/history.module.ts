// The history of the generation log in ClickHouse: its reader for the operations, its copier for the process of the deliveries.
import { Global, Module } from '@nestjs/common';
import { History } from '../persistence/history/history.js';
import { ClickhouseClient } from './clickhouse-client.js';
import { ContentCopier } from './content-copier.js';
import { HistoryCopier } from './history-copier.js';
import { HistoryMetrics } from './history-metrics.js';
import { HistoryReader } from './history-reader.js';
import { HistorySchema } from './history-schema.js';

// Global: repositories read the history through its port.
@Global()
@Module({
  providers: [ClickhouseClient, HistoryReader, { provide: History, useExisting: HistoryReader }],
  exports: [ClickhouseClient, History],
})
export class HistoryModule {}

@Module({
  providers: [ContentCopier, HistoryCopier, HistoryMetrics, HistorySchema],
  exports: [HistoryMetrics],
})
export class HistoryCopyModule {}
