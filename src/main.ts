// Starts the service. Importing this file does nothing; scripts/start.mjs and scripts/serve.mjs call start().
import 'reflect-metadata';
import cluster from 'node:cluster';
import { readAppConfig } from './config/app-config.js';
import type { AppConfig } from './config/app-config.js';
import { PROVIDERS } from './providers/index.js';
import { describeProviders, logProviders } from './runtime/provider-lines.js';
import { loadCatalogueModels } from './routing/catalogue-source.js';
import { applyMemoryOptions } from './runtime/memory-options.js';
import { startReplica, startWorker } from './runtime/workers.js';

// Milliseconds. A service manager may signal all processes of the service, which then signal each other.
const ECHO = 1_000;

/** The configuration of this build's providers. Throws ConfigError, one line that names the variable. */
export function readEnvironment(environment: NodeJS.ProcessEnv): AppConfig {
  const config = readAppConfig(
    environment,
    PROVIDERS.map((provider) => provider.slug),
  );
  // The application reads it again. A broken file must end the start before anything else begins.
  loadCatalogueModels(config.catalogueFile);
  return config;
}

export interface StartOptions {
  /** Called after the last response and before the process ends. */
  readonly onStopped?: () => Promise<void>;
}

/**
 * Resolves when the service listens. SIGTERM announces the end for SHUTDOWN_ANNOUNCE_MS, finishes in-flight work and ends
 * the process. SIGINT and SIGHUP, which come from a terminal, and a second SIGTERM skip the announcement.
 */
export async function start(options: StartOptions = {}): Promise<{ readonly baseUrl: string }> {
  const config = readEnvironment(process.env);
  applyMemoryOptions();
  // The primary reports the address of its workers.
  const service = cluster.isPrimary
    ? await startReplica(config)
    : { baseUrl: '', ...(await startWorker(config)) };
  if (cluster.isPrimary) logProviders(describeProviders(config, process.env));
  const hurry = new AbortController();
  let stoppedAt: number | null = null;
  const stop = async (): Promise<void> => {
    // A second signal must not shorten the draining of the first.
    if (stoppedAt !== null) return;
    stoppedAt = performance.now();
    await service.stop(hurry.signal);
    await options.onStopped?.();
    process.exit(0);
  };
  process.on('SIGTERM', () => {
    if (stoppedAt !== null && performance.now() - stoppedAt > ECHO) hurry.abort();
    void stop();
  });
  const onTerminal = (): void => {
    hurry.abort();
    void stop();
  };
  // A terminal sends both signals to all processes. The delivery process ignores them and ends after the workers.
  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    process.on(signal, config.role === 'deliveries' ? () => undefined : onTerminal);
  return { baseUrl: service.baseUrl };
}
