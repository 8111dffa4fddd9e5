// The lab of every scenario: its own database, replicas of the built service as processes, an upstream and a
// destination behind proxies that can corrupt data, and the keys of one account.
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type { RunningReceiver } from '../../test/support/receivers/receiver.js';
import { answerLikeOpenAi, startStubUpstream } from '../../test/support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../test/support/upstreams/stub-upstream.js';
import { startTcpProxy } from '../../test/support/upstreams/tcp-proxy.js';
import type { TcpProxy } from '../../test/support/upstreams/tcp-proxy.js';
import { traceCollector } from '../../test/support/deliveries/trace-collector.js';
import { callOperation } from '../support/operation.js';
import { ChatProvider, isChat } from './chat/provider.js';
import type { FaultCluster } from './cluster.js';
import { startReplicaProcess } from './replica.js';
import type { Keys, Replica, ReplicaOptions } from './replica.js';

const READY_TIMEOUT_MS = 120_000;
const BETWEEN_LOOKS_MS = 50;

export interface Lab {
  readonly cluster: FaultCluster;
  readonly databaseUrl: string;
  readonly upstream: StubUpstream;
  /** Its answers to chats. */
  readonly chats: ChatProvider;
  readonly upstreamProxy: TcpProxy;
  readonly receiver: RunningReceiver;
  readonly receiverProxy: TcpProxy;
  /** Those that calls go to, in turn. A dead one is to be replaced. */
  readonly replicas: Replica[];
  readonly keys: Keys;
  /** Where every generation has to arrive. */
  readonly destinationId: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly agent: Agent;
  /** `name`: that of a dead replica whose place it takes. */
  startReplica(options?: ReplicaOptions, name?: string): Promise<Replica>;
  /** A call of an operation; throws for anything but 2xx. */
  manage(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** Resolves when every replica says that it is ready. */
  untilReady(): Promise<void>;
  sql<Row>(text: string): Promise<Row[]>;
  wait(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export interface LabOptions {
  readonly cluster: FaultCluster;
  /** The name of the database, which is created again. */
  readonly name: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly replicas?: number;
  readonly replicaOptions?: ReplicaOptions;
  /** Azure beside OpenAI, at the same upstream but without a proxy. */
  readonly hasSecondEndpoint?: boolean;
  /** Brings the empty database to its schema; by default with the migrations of this checkout. */
  readonly migrate?: (databaseUrl: string) => Promise<unknown>;
}

export async function openLab(options: LabOptions): Promise<Lab> {
  const { cluster, name, random, signal, replicas: wanted = 2 } = options;
  const databaseUrl = await cluster.createDatabase(name);
  const { migrate = cluster.migrate } = options;
  await migrate(databaseUrl);
  const chats = new ChatProvider();
  const upstream = await startStubUpstream((received, response) =>
    isChat(received) ? chats.answer(received, response) : answerLikeOpenAi(received, response),
  );
  const receiver = await startReceiver(traceCollector);
  const upstreamProxy = await startTcpProxy(addressOf(upstream.origin));
  const receiverProxy = await startTcpProxy(addressOf(receiver.origin));
  const agent = new Agent({ connections: 512, keepAliveTimeout: 1_000 });
  const replicas: Replica[] = [];
  const started: Replica[] = [];
  const start = async (
    replicaOptions: ReplicaOptions = {},
    replicaName = `replica-${started.length}`,
    wantsKeys = false,
  ) => {
    const environment = {
      DATABASE_URL: databaseUrl,
      OPENAI_BASE_URL: `http://127.0.0.1:${upstreamProxy.port}/v1`,
      ...(options.hasSecondEndpoint === true && {
        AZURE_API_KEY: 'upstream-key',
        AZURE_BASE_URL: upstream.origin,
      }),
      ...replicaOptions.environment,
    };
    const process = await startReplicaProcess(
      { ...replicaOptions, environment },
      replicaName,
      wantsKeys,
      signal,
    );
    started.push(process.replica);
    return process;
  };
  const lab = {
    cluster,
    databaseUrl,
    upstream,
    chats,
    upstreamProxy,
    receiver,
    receiverProxy,
    replicas,
    random,
    signal,
    agent,
    startReplica: async (replicaOptions?: ReplicaOptions, replicaName?: string) =>
      (await start(replicaOptions ?? options.replicaOptions, replicaName)).replica,
    untilReady: () => untilReady(replicas, agent, signal),
    sql: <Row>(text: string) => cluster.query(databaseUrl, text) as Promise<Row[]>,
    wait: (milliseconds: number) => pause(milliseconds, undefined, { signal }),
    close: async () => {
      await Promise.all(started.map((replica) => replica.stop()));
      await agent.destroy();
      await Promise.all([upstreamProxy.close(), receiverProxy.close()]);
      await Promise.all([upstream.close(), receiver.close()]);
    },
  };
  try {
    const first = await start(options.replicaOptions, undefined, true);
    if (!first.keys) throw new Error('the first replica has made no keys');
    replicas.push(first.replica);
    for (let count = 1; count < wanted; count++) replicas.push(await lab.startReplica());
    const { keys } = first;
    const manage = (method: string, path: string, body?: object) =>
      callOperation({
        method,
        url: `${replicas[0]?.baseUrl}${path}`,
        key: keys.managementKey,
        body,
        dispatcher: agent,
      });
    const created = await manage('POST', '/observability/destinations', {
      type: 'webhook',
      name: 'Under faults',
      config: { url: `http://127.0.0.1:${receiverProxy.port}/traces` },
    });
    const { id: destinationId } = (created as { readonly data: { readonly id: string } }).data;
    return { ...lab, keys, destinationId, manage };
  } catch (error) {
    await lab.close();
    throw error;
  }
}

function addressOf(origin: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(origin);
  return { host: hostname, port: Number(port) };
}

async function untilReady(replicas: readonly Replica[], agent: Agent, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (const { baseUrl } of replicas) {
    const url = new URL('/ready', baseUrl).href;
    for (;;) {
      const status = await request(url, { dispatcher: agent })
        .then(async ({ statusCode, body }) => (await body.dump(), statusCode))
        .catch(() => 0);
      if (status === 200) break;
      if (performance.now() > deadline)
        throw new Error(`a replica is not ready after ${READY_TIMEOUT_MS} ms`);
      await pause(BETWEEN_LOOKS_MS, undefined, { signal });
    }
  }
}
