// A process that serves calls: the application, its socket, and the shutdown of both.
import cluster from 'node:cluster';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { collectDefaultMetrics } from 'prom-client';
import { AppModule } from '../app.module.js';
import { setUpApplication } from '../app.setup.js';
import { baseUrlOf } from './base-url.js';
import { OpenChats } from '../chat/run/open-chats.js';
import type { AppConfig } from '../config/app-config.js';
import { ServiceLogger } from '../config/service-logger.js';
import { Metrics } from '../config/metrics.js';
import { ABORTED_STREAMS_TIME } from '../config/shutdown-times.js';
import { LoadShedder } from '../http/load-shedding/load-shedder.js';
import { ExpressServerAdapter } from '../http/server/express-server.adapter.js';
import { Readiness } from '../persistence/database/readiness.js';

// Milliseconds between two counts of the connections that a worker still waits for.
const CONNECTIONS_INTERVAL = 10;

export interface RunningProcess {
  /** Announces the end until `hurry` aborts, finishes in-flight work, then shuts the process's part down. */
  stop(hurry: AbortSignal): Promise<void>;
}

export interface RunningService extends RunningProcess {
  readonly baseUrl: string;
}

export async function startServing(config: AppConfig): Promise<RunningService> {
  const application = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(config),
    new ExpressServerAdapter(),
    { logger: new ServiceLogger(config), bodyParser: false, abortOnError: false },
  );
  setUpApplication(application);
  collectNodeMetrics(application.get(Metrics));
  await application.listen(config.port, config.host);
  const server: Server = application.getHttpServer();
  return {
    baseUrl: baseUrlOf(config, server.address() as AddressInfo),
    stop: async (hurry) => {
      application.get(Readiness).startDraining();
      const pause = (): Promise<void> =>
        sleep(config.shutdownAnnounce / 2, undefined, { signal: hurry }).catch(() => undefined);
      // Load balancers learn it from /ready, and send requests until then. Responses of the second half end kept connections: a
      // request that meets a closing connection is lost.
      await pause();
      closeAfterResponses(server);
      await pause();
      await stopProcess(application, server, config.shutdownGrace);
    },
  };
}

// Gauges whose names end like those of counters, which `promtool check metrics` rejects.
const MISNAMED = ['handles', 'requests', 'resources'].map((of) => `nodejs_active_${of}_total`);

function collectNodeMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}

async function stopProcess(
  application: NestExpressApplication,
  server: Server,
  grace: number,
): Promise<void> {
  const closed = close(server);
  const loadShedder = application.get(LoadShedder);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      new Logger('Shutdown').warn('calls were still in flight at the end of SHUTDOWN_GRACE_MS; closing them');
      // Streams end with an error, and their calls are recorded.
      application.get(OpenChats).abortAll();
      timer = setTimeout(resolve, ABORTED_STREAMS_TIME);
      void loadShedder.whenChatsIdle().then(resolve);
    }, grace);
  }).then(() => server.closeAllConnections());
  // A call whose caller has disconnected has no connection any more, but is still charged and recorded.
  const idle = closed.then(() => loadShedder.whenIdle());
  await Promise.race([idle, deadline]);
  clearTimeout(timer);
  await closed;
  await application.close();
}

/** Without `connection: close`, kept-alive connections would last as long as they are used. */
function closeAfterResponses(server: Server): void {
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) =>
    response.setHeader('connection', 'close'),
  );
}

/** Resolves when the last connection is closed. */
async function close(server: Server): Promise<void> {
  // Connections whose responses had started before.
  server.keepAliveTimeout = 1;
  if (cluster.isWorker) await cutOffNewConnections(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/**
 * Cuts new connections off, and resolves when the open ones have ended. Node's primary keeps a connection that it offers
 * to a worker whose server has closed: its client would wait until the replica's last call has ended.
 */
async function cutOffNewConnections(server: Server): Promise<void> {
  server.prependListener('connection', (socket: Socket) => socket.destroy());
  server.closeIdleConnections();
  const connections = promisify(server.getConnections.bind(server));
  while ((await connections()) > 0) await sleep(CONNECTIONS_INTERVAL);
}
