// One process: one that serves, with the application and its socket, or one that only delivers; and how they end.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { collectDefaultMetrics } from 'prom-client';
import { API_PREFIX, AppModule, DeliveriesAppModule } from './app.module.js';
import { setUpApplication } from './app.setup.js';
import type { AppConfig } from './config/app-config.js';
import { JsonLogger } from './config/json-logger.js';
import { Metrics } from './config/metrics.js';
import { ExpressServerAdapter } from './http/express-server.adapter.js';
import { Readiness } from './persistence/readiness.js';

export interface RunningProcess {
  /** Ends what is in flight, then the process's part. */
  stop(): Promise<void>;
}

export interface RunningService extends RunningProcess {
  readonly baseUrl: string;
}

export async function startServing(config: AppConfig): Promise<RunningService> {
  const application = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config),
    new ExpressServerAdapter(),
    { logger: new JsonLogger(config), bodyParser: false, abortOnError: false },
  );
  setUpApplication(application);
  collectDefaultMetrics({ register: application.get(Metrics).registry });
  await application.listen(config.port, config.host);
  const server: Server = application.getHttpServer();
  return {
    baseUrl: baseUrlOf(config, server.address() as AddressInfo),
    stop: () => stopProcess(application, server, config.shutdownGrace),
  };
}

/** Behind everything that answers calls: where the processor is short of time, deliveries wait. */
const DELIVERIES_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

export async function startDeliveries(config: AppConfig): Promise<RunningProcess> {
  setPriority(DELIVERIES_PRIORITY);
  const application = await NestFactory.createApplicationContext(DeliveriesAppModule.forRoot(config), {
    logger: new JsonLogger(config),
    abortOnError: false,
  });
  const { registry } = application.get(Metrics);
  collectDefaultMetrics({ register: registry });
  // How late its event loop is says nothing about calls, and would be mixed with what says it.
  for (const { name } of await registry.getMetricsAsJSON())
    if (name.startsWith('nodejs_')) registry.removeSingleMetric(name);
  return { stop: () => application.close() };
}

export function baseUrlOf(config: AppConfig, { port }: { readonly port: number }): string {
  const isEverywhere = config.host === '0.0.0.0' || config.host === '::';
  const host = isEverywhere ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/${API_PREFIX}`;
}

async function stopProcess(
  application: NestExpressApplication,
  server: Server,
  grace: number,
): Promise<void> {
  application.get(Readiness).startDraining();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const deadline = setTimeout(() => {
    new Logger('Shutdown').warn('calls were still in flight at the end of SHUTDOWN_GRACE_MS; closing them');
    server.closeAllConnections();
  }, grace);
  await closed;
  clearTimeout(deadline);
  await application.close();
}
