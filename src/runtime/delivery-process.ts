// The delivery process: runs beside the workers, answers no calls, and loads no code of theirs.
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { collectDefaultMetrics } from 'prom-client';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import type { AppConfig } from '../config/app-config.js';
import { ConfigModule } from '../config/config.module.js';
import { ServiceLogger } from '../config/service-logger.js';
import { Metrics } from '../config/metrics.js';
import { HistoryModule } from '../history/history.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { PersistenceModule } from '../persistence/persistence.module.js';
import { ContentUpkeepModule, UpkeepModule } from '../upkeep/upkeep.module.js';
import type { RunningProcess } from './serving-process.js';

/**
 * Added to the priority of the workers (higher numbers give way): when the processor is short of time, deliveries wait. It
 * leaves a third of the time of another process. A ninth (10) was too little after a failover on a busy machine
 * (docs/decisions/0005-broadcast.md).
 */
export const STEP_BACK = 5;
const LOWEST_PRIORITY = constants.priority.PRIORITY_LOW;

// Milliseconds between samples of the event-loop monitor, which this process does not report: each sample wakes it.
const RARELY = 60_000;

@Module({})
class DeliveryProcessModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: DeliveryProcessModule,
      imports: [
        ConfigModule.forRoot(config),
        PersistenceModule,
        OutboundModule,
        HistoryModule,
        DeliveriesModule,
        UpkeepModule,
        ContentUpkeepModule,
      ],
    };
  }
}

export async function startDeliveries(config: AppConfig): Promise<RunningProcess> {
  const application = await NestFactory.createApplicationContext(DeliveryProcessModule.forRoot(config), {
    logger: new ServiceLogger(config),
    abortOnError: false,
  });
  const { registry } = application.get(Metrics);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RARELY });
  // Node metrics of this process would be mixed with those of the workers, which describe calls.
  for (const { name } of await registry.getMetricsAsJSON())
    if (name.startsWith('nodejs_')) registry.removeSingleMetric(name);
  // Not before: a start takes seconds of processor time, which a busy machine would stretch to minutes.
  stepBack();
  return { stop: () => application.close() };
}

/** On Linux every thread has its own priority; new threads inherit that of the current one. */
function stepBack(): void {
  const priority = Math.min(getPriority() + STEP_BACK, LOWEST_PRIORITY);
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) {
    try {
      setPriority(thread, priority);
    } catch {
      // The thread has ended since the directory was read.
    }
  }
}
