// The gateways between the load and the stub provider, each with its address, headers and process.
import { repositoryRoot } from '../../../scripts/support/repository.mjs';
import { embeddingsJob, GATEWAY_NAMES } from './measuring.mjs';
import { startPortkey } from '../../conformance/portkey.ts';
import { installPortkey } from '../../conformance/portkey/install.mjs';
import { createMigratedDatabase, startService } from './service.mjs';

export const PLAIN_MODEL = 'text-embedding-3-large';
const OWN_MODEL = `openai/${PLAIN_MODEL}`;

const FIRST_CALLS = { connections: 4, seconds: 2 };
const FIRST_CALL = { inputs: 1, format: 'base64', dimensions: 384 };

/** Bounds beyond any number of streams that is measured, and no load shedding: a refusal would end the run. */
const MOST_STREAMS = '10000';
export const CHAT_ENVIRONMENT = {
  MAX_CHATS_IN_FLIGHT: MOST_STREAMS,
  CHAT_ENDPOINT_CONCURRENCY: MOST_STREAMS,
  MAX_EVENT_LOOP_DELAY_MS: '0',
};

let services = 0;

/** This service, or the build of another checkout, on a new database: a key with a limit, by default one destination. */
export async function openService(
  testbed,
  { environment, hasDestination = true, root = repositoryRoot } = {},
) {
  const name = `bench_${++services}`;
  const { upstreamOrigin, nodeArguments, signal } = testbed;
  const databaseUrl = await createMigratedDatabase(testbed.server, { name, root, signal });
  const service = await startService({
    databaseUrl,
    upstreamOrigin,
    environment,
    nodeArguments,
    root,
    signal,
  });
  testbed.onClose(service.stop);
  const address = {
    url: `${service.baseUrl}/embeddings`,
    headers: { authorization: `Bearer ${service.key}` },
    model: OWN_MODEL,
  };
  const { calls: firstCalls } = await testbed.runLoad({
    ...embeddingsJob(address, FIRST_CALL),
    ...FIRST_CALLS,
  });
  const sinkPath = `/${name}/`;
  if (hasDestination) await service.createDestination('webhook', { url: testbed.sinkOrigin + sinkPath });
  let answered = 0;
  return {
    ...service,
    ...address,
    kind: 'service',
    name: GATEWAY_NAMES.service,
    /** The calls that the log already has. */
    firstCalls,
    databasePid: testbed.databasePid,
    /**
     * Resolves when every call has reached the destination: later measurements must not share the machine with
     * deliveries.
     */
    settle: async (calls) => {
      if (!hasDestination) return;
      answered += calls;
      await testbed.untilDelivered(sinkPath, answered);
    },
  };
}

const openProcess = (name, file) => async (testbed) => {
  const child = await testbed.startChild(file, { UPSTREAM_ORIGIN: testbed.upstreamOrigin });
  return { name, url: `${child.message.origin}/v1/embeddings`, pid: child.process.pid };
};

async function openPeer(testbed) {
  const installed = testbed.withPeer ? await installPortkey(testbed) : null;
  if (installed === null) return null;
  const peer = await startPortkey(installed, testbed.signal);
  testbed.onClose(() => peer.stop());
  const headers = {
    authorization: 'Bearer sk-stub',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${testbed.upstreamOrigin}/v1`,
  };
  return { name: peer.name, url: `${peer.baseUrl}/embeddings`, headers, pid: peer.pid };
}

/** By kind; null for a gateway that this machine does not have. */
export const GATEWAY_STARTERS = {
  direct: (testbed) => ({ name: 'no gateway', url: `${testbed.upstreamOrigin}/v1/embeddings` }),
  pipe: openProcess(GATEWAY_NAMES.pipe, 'pipe-process.mjs'),
  nest: openProcess(GATEWAY_NAMES.nest, 'nest-process.mjs'),
  service: (testbed) => openService(testbed),
  peer: openPeer,
};
