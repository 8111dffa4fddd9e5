// The processes of one replica: one or several workers that share a socket, and one for deliveries. A process that
// dies is replaced.
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { Logger } from '@nestjs/common';
import { baseUrlOf } from './base-url.js';
import { environmentOf } from '../config/app-config.js';
import type { AppConfig, ProcessRole } from '../config/app-config.js';
import { GroupMetrics } from '../config/metrics.js';
import { ServiceLogger } from '../config/service-logger.js';
import type { RunningProcess, RunningService } from './serving-process.js';

// Milliseconds before a dead process is replaced: a process that cannot start must not be forked in a tight loop.
const RESTART_DELAY = 1_000;

/** In the process that the operator starts. Resolves when the replica listens. */
export async function startReplica(config: AppConfig): Promise<RunningService> {
  const workers = new Workers(config);
  const role = config.deliveryProcess === 'own' ? 'calls' : 'all';
  const serving =
    config.workers > 1
      ? await workers.startServing(config.workers, role)
      : await startHere({ ...config, role });
  // After the workers: its start must not take processor time from calls.
  const delivering = role === 'calls' ? workers.startDelivering() : null;
  return {
    baseUrl: serving.baseUrl,
    stop: async (hurry) => {
      workers.isStopping = true;
      await serving.stop(hurry);
      // Last: until the workers have stopped, calls may append work for it.
      await delivering?.stop(hurry);
    },
  };
}

/** In a process that the replica starts. */
export async function startWorker(config: AppConfig): Promise<RunningProcess> {
  if (config.role !== 'deliveries') return startHere(config);
  const { startDeliveries } = await import('./delivery-process.js');
  return startDeliveries(config);
}

/** Imported on demand: the delivery process starts in half the time and memory without it. */
async function startHere(config: AppConfig): Promise<RunningService> {
  const { startServing } = await import('./serving-process.js');
  return startServing(config);
}

class Workers {
  private readonly logger = new Logger('Workers');
  private readonly workers = new Map<Worker, ProcessRole>();
  /** True: dead processes are not replaced. */
  isStopping = false;

  constructor(private readonly config: AppConfig) {}

  async startServing(count: number, role: ProcessRole): Promise<RunningService> {
    Logger.overrideLogger(new ServiceLogger(this.config));
    new GroupMetrics(null).open();
    const starting = Array.from({ length: count }, async (_, number) => {
      const worker = this.fork(role, number);
      const address = await listening(worker);
      // Before the others have started: a death during their start would be missed.
      this.replaceWhenItDies(worker, role, number);
      return address;
    });
    const [address] = await Promise.all(starting);
    return {
      baseUrl: baseUrlOf(this.config, address ?? { port: this.config.port }),
      stop: (hurry) => this.stop(role, hurry),
    };
  }

  startDelivering(): RunningProcess {
    this.replaceWhenItDies(this.fork('deliveries', 0), 'deliveries', 0);
    return { stop: (hurry) => this.stop('deliveries', hurry) };
  }

  private fork(role: ProcessRole, number: number): Worker {
    const worker = cluster.fork(environmentOf(role, number, this.config));
    this.workers.set(worker, role);
    worker.once('exit', () => this.workers.delete(worker));
    return worker;
  }

  private replaceWhenItDies(worker: Worker, role: ProcessRole, number: number): void {
    worker.once('exit', (code: number, signal: string) => {
      if (this.isStopping) return;
      this.logger.error(
        `process ${worker.process.pid} for ${role} ended (${signal || code}); starting another`,
      );
      setTimeout(() => {
        if (!this.isStopping) this.replaceWhenItDies(this.fork(role, number), role, number);
      }, RESTART_DELAY);
    });
  }

  private async stop(role: ProcessRole, hurry: AbortSignal): Promise<void> {
    const workers = [...this.workers].filter(([, itsRole]) => itsRole === role);
    await Promise.all(workers.map(([worker]) => ended(worker, hurry)));
  }
}

function listening(worker: Worker): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    worker.once('listening', resolve);
    worker.once('exit', (code) => reject(new Error(`a worker ended with code ${code} before it listened`)));
  });
}

/** The signals of main.ts: SIGTERM stops, SIGINT ends the announcement. */
function ended(worker: Worker, hurry: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const skip = (): void => void worker.process.kill('SIGINT');
    hurry.addEventListener('abort', skip, { once: true });
    worker.once('exit', () => {
      hurry.removeEventListener('abort', skip);
      resolve();
    });
    worker.process.kill('SIGTERM');
    if (hurry.aborted) skip();
  });
}
