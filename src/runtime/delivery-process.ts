// A process that delivers and answers nobody. It is started beside those that serve and loads nothing of theirs.
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { collectDefaultMetrics } from 'prom-client';
import { DeliveriesModule } from '../deliveries/deliveries.module.js';
import type { AppConfig } from '../config/app-config.js';
import { ConfigModule } from '../config/config.module.js';
import { JsonLogger } from '../config/json-logger.js';
import { Metrics } from '../config/metrics.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { PersistenceModule } from '../persistence/persistence.module.js';
import type { RunningProcess } from './serving-process.js';

/** Behind everything that answers calls: where the processor is short of time, deliveries wait. */
const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

// Milliseconds between looks at what nobody is told: each of them wakes the process.
const RARELY = 60_000;

@Module({})
class DeliveryProcessModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: DeliveryProcessModule,
      imports: [ConfigModule.forRoot(config), PersistenceModule, OutboundModule, DeliveriesModule],
    };
  }
}

export async function startDeliveries(config: AppConfig): Promise<RunningProcess> {
  stepBack();
  const application = await NestFactory.createApplicationContext(DeliveryProcessModule.forRoot(config), {
    logger: new JsonLogger(config),
    abortOnError: false,
  });
  const { registry } = application.get(Metrics);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RARELY });
  // How late its event loop is says nothing about calls, and would be mixed with what says it.
  for (const { name } of await registry.getMetricsAsJSON())
    if (name.startsWith('nodejs_')) registry.removeSingleMetric(name);
  return { stop: () => application.close() };
}

/** On Linux every thread has a priority of its own; those that are still to come take over this one's. */
function stepBack(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) {
    try {
      setPriority(thread, PRIORITY);
    } catch {
      // It has ended meanwhile.
    }
  }
}
