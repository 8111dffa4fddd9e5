import { Global, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Clock, SynchronizedClock } from '../domain/clock.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from './app-config.js';
import { Metrics } from './metrics.js';
import { openTracing, Tracing } from './tracing/tracing.js';

@Global()
@Module({})
export class ConfigModule {
  static forRoot(config: AppConfig): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: AppConfig, useValue: config },
        SynchronizedClock,
        { provide: Clock, useExisting: SynchronizedClock },
        Metrics,
        YieldQueue,
        { provide: Tracing, useFactory: openTracing, inject: [AppConfig] },
      ],
      exports: [AppConfig, Clock, SynchronizedClock, Metrics, Tracing, YieldQueue],
    };
  }
}
