// WORKERS > 1: one process for every core, sharing one socket; a worker that dies is replaced.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { Logger } from '@nestjs/common';
import type { AppConfig } from './config/app-config.js';
import { gatherMetricsOfWorkers } from './config/group-metrics.js';
import { JsonLogger } from './config/json-logger.js';
import { baseUrlOf } from './process.js';
import type { RunningService } from './process.js';

// Milliseconds before a dead worker is replaced: a worker that cannot start must not be forked in a tight loop.
const RESTART_DELAY = 1_000;

export async function startWorkers(config: AppConfig): Promise<RunningService> {
  Logger.overrideLogger(new JsonLogger(config));
  const logger = new Logger('Workers');
  gatherMetricsOfWorkers();
  let isStopping = false;
  const addresses = await Promise.all(
    Array.from({ length: config.workers }, () => listening(cluster.fork())),
  );
  cluster.on('exit', (worker, code, signal) => {
    if (isStopping) return;
    logger.error(`worker ${worker.process.pid} ended (${signal || code}); starting another`);
    setTimeout(() => isStopping || cluster.fork(), RESTART_DELAY);
  });
  return {
    baseUrl: baseUrlOf(config, addresses[0] ?? { port: config.port }),
    stop: async () => {
      isStopping = true;
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(workers.map(ended));
    },
  };
}

function listening(worker: Worker): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    worker.once('listening', resolve);
    worker.once('exit', (code) => reject(new Error(`a worker ended with code ${code} before it listened`)));
  });
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.process.kill('SIGTERM');
  });
}
