// The built service as a process that can be killed, stopped and signalled.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SERVICE_PROGRAM, startChild } from '../../test/support/processes/child.js';

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

export interface Keys {
  readonly managementKey: string;
  readonly apiKey: string;
}

export interface Replica {
  readonly baseUrl: string;
  readonly pid: number;
  /** Its REPLICA_NAME. */
  readonly name: string;
  /** Its exit code; null: a signal ended it. */
  readonly ended: Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<unknown>;
  /** SIGTERM: answers what is in flight first. */
  stop(): Promise<void>;
  /** Sends any signal, and waits for nothing. */
  signal(name: NodeJS.Signals): void;
  /** The next message on its channel. */
  hear(): Promise<unknown>;
}

export interface ReplicaOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** A module that is loaded before the service. */
  readonly preload?: string;
  /** A checkout with a dist of its own; by default this one. */
  readonly root?: string;
}

// Far above what it takes: a machine under load must not fail a scenario.
const START_TIMEOUT_MS = 120_000;

// Settings of all scenarios: short pauses, short time-outs, no rate limits, loopback for destinations.
const ENVIRONMENT = {
  DATABASE_POOL_SIZE: '5',
  ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
  PORT: '0',
  LOG_LEVEL: 'fatal',
  MODEL_DISCOVERY: 'off',
  SHUTDOWN_ANNOUNCE_MS: '0',
  OPENAI_API_KEY: 'upstream-key',
  PROVIDER_RETRY_BASE_DELAY_MS: '50',
  PROVIDER_TIMEOUT_MS: '3000',
  RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
  RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
  // Whether the machine has other work is not what most scenarios ask.
  MAX_EVENT_LOOP_DELAY_MS: '0',
  DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8',
  BROADCAST_RETRY_BASE_DELAY_MS: '20',
  BROADCAST_RETRY_MAX_DELAY_MS: '500',
  BROADCAST_SWEEP_INTERVAL_MS: '500',
};

/** `wantsKeys`: in an empty database the replica creates an account with two keys, and sends them. */
export async function startReplicaProcess(
  { environment = {}, preload, root = REPOSITORY }: ReplicaOptions,
  name: string,
  wantsKeys: boolean,
  signal: AbortSignal,
): Promise<{ readonly replica: Replica; readonly keys: Keys | null }> {
  const child = await startChild<{ readonly baseUrl: string; readonly keys: Keys | null }>(SERVICE_PROGRAM, {
    environment: {
      ...ENVIRONMENT,
      REPLICA_NAME: name,
      SERVICE_ROOT: root,
      SERVICE_WANTS_KEYS: wantsKeys ? 'yes' : 'no',
      ...environment,
    },
    timeout: START_TIMEOUT_MS,
    nodeArguments: preload === undefined ? [] : ['--import', preload],
    signal,
  });
  const { process: started, message } = child;
  const ended = new Promise<number | null>((resolve) => started.once('exit', resolve));
  return {
    keys: message.keys,
    replica: {
      baseUrl: message.baseUrl,
      pid: started.pid ?? 0,
      name,
      ended,
      kill: () => {
        started.kill('SIGKILL');
        return ended;
      },
      stop: () => child.stop(),
      signal: (signalName) => void started.kill(signalName),
      hear: () => once(started, 'message', { signal }),
    },
  };
}
