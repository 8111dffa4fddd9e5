// Starts the service. Importing this file does nothing; scripts/start.mjs and scripts/serve.mjs call start().
import 'reflect-metadata';
import cluster from 'node:cluster';
import { readAppConfig } from './config/app-config.js';
import type { AppConfig } from './config/app-config.js';
import { EMBEDDING_PROVIDERS } from './providers/index.js';
import { describeProviders, logProviders } from './runtime/provider-lines.js';
import type { RunningService } from './runtime/serving-process.js';
import { loadCatalogueModels } from './routing/catalogue-source.js';
import { applyMemoryOptions } from './runtime/memory-options.js';
import { startReplica, startWorker } from './runtime/workers.js';

/** The configuration of this build's providers. Throws ConfigError, one line that names the variable. */
export function readEnvironment(environment: NodeJS.ProcessEnv): AppConfig {
  const config = readAppConfig(
    environment,
    EMBEDDING_PROVIDERS.map((provider) => provider.slug),
  );
  // The application reads it again. A broken file must end the start before anything else begins.
  loadCatalogueModels(config.catalogueFile);
  return config;
}

export interface StartOptions {
  /** Called after the last response and before the process ends. */
  readonly onStopped?: () => Promise<void>;
}

/** Resolves when the service listens. SIGTERM, SIGINT and SIGHUP drain it and end the process. */
export async function start(options: StartOptions = {}): Promise<RunningService> {
  const config = readEnvironment(process.env);
  applyMemoryOptions();
  // The primary reports the address of its workers.
  const service = cluster.isPrimary
    ? await startReplica(config)
    : { baseUrl: '', ...(await startWorker(config)) };
  if (cluster.isPrimary) logProviders(describeProviders(config, process.env));
  let isStopping = false;
  const stop = async (): Promise<void> => {
    // A second signal must not shorten the draining of the first.
    if (isStopping) return;
    isStopping = true;
    await service.stop();
    await options.onStopped?.();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  // A terminal sends both signals to all processes. The delivery process ignores them and ends after the workers.
  const onTerminal = config.role === 'deliveries' ? () => undefined : () => void stop();
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, onTerminal);
  return { ...service, stop };
}
