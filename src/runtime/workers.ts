// The processes of one replica: those that answer calls, sharing one socket where there are several, and one for
// deliveries. One that dies is replaced.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { Logger } from '@nestjs/common';
import { baseUrlOf } from './base-url.js';
import { environmentOf } from '../config/app-config.js';
import type { AppConfig, ProcessRole } from '../config/app-config.js';
import { GroupMetrics } from '../config/group-metrics.js';
import { JsonLogger } from '../config/json-logger.js';
import type { RunningProcess, RunningService } from './serving-process.js';

// Milliseconds before a dead process is replaced: one that cannot start must not be forked in a tight loop.
const RESTART_DELAY = 1_000;

/** In the process that an operator has started. Resolves when the replica listens. */
export async function startReplica(config: AppConfig): Promise<RunningService> {
  const workers = new Workers(config);
  const duty = config.deliveryProcess === 'own' ? 'calls' : 'all';
  const serving =
    config.workers > 1
      ? await workers.startServing(config.workers, duty)
      : await startHere({ ...config, duty });
  // Now and not before: what it needs to start, it must not take from those that somebody waits for.
  const delivering = duty === 'calls' ? workers.startDelivering() : null;
  return {
    baseUrl: serving.baseUrl,
    stop: async () => {
      workers.isStopping = true;
      await serving.stop();
      // The last one: until then calls may leave it something.
      await delivering?.stop();
    },
  };
}

/** In a process that another one has started. */
export async function startWorker(config: AppConfig): Promise<RunningProcess> {
  if (config.duty !== 'deliveries') return startHere(config);
  const { startDeliveries } = await import('./delivery-process.js');
  return startDeliveries(config);
}

/** Loaded only where it is needed: a process that serves nobody starts in half the time and memory. */
async function startHere(config: AppConfig): Promise<RunningService> {
  const { startServing } = await import('./serving-process.js');
  return startServing(config);
}

class Workers {
  private readonly logger = new Logger('Workers');
  private readonly workers = new Map<Worker, ProcessRole>();
  /** From now on nothing is replaced. */
  isStopping = false;

  constructor(private readonly config: AppConfig) {}

  async startServing(count: number, duty: ProcessRole): Promise<RunningService> {
    Logger.overrideLogger(new JsonLogger(this.config));
    new GroupMetrics(null).open();
    const starting = Array.from({ length: count }, async () => {
      const worker = this.fork(duty);
      const address = await listening(worker);
      // At once: one that dies while another one is still starting would be missed for ever.
      this.replaceWhenItDies(worker, duty);
      return address;
    });
    const [address] = await Promise.all(starting);
    return {
      baseUrl: baseUrlOf(this.config, address ?? { port: this.config.port }),
      stop: () => this.stop(duty),
    };
  }

  startDelivering(): RunningProcess {
    this.replaceWhenItDies(this.fork('deliveries'), 'deliveries');
    return { stop: () => this.stop('deliveries') };
  }

  private fork(duty: ProcessRole): Worker {
    const worker = cluster.fork(environmentOf(duty, this.config));
    this.workers.set(worker, duty);
    worker.once('exit', () => this.workers.delete(worker));
    return worker;
  }

  private replaceWhenItDies(worker: Worker, duty: ProcessRole): void {
    worker.once('exit', (code: number, signal: string) => {
      if (this.isStopping) return;
      this.logger.error(
        `process ${worker.process.pid} for ${duty} ended (${signal || code}); starting another`,
      );
      setTimeout(() => this.isStopping || this.replaceWhenItDies(this.fork(duty), duty), RESTART_DELAY);
    });
  }

  private async stop(duty: ProcessRole): Promise<void> {
    const workers = [...this.workers].filter(([, itsDuty]) => itsDuty === duty);
    await Promise.all(workers.map(([worker]) => ended(worker)));
  }
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
