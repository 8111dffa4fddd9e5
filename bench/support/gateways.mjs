// The gateways between the load and the stub provider, each with its address, headers and process.
import { findNginx, startNginx } from './nginx.mjs';
import { startPeer } from './peer.mjs';
import { createDatabase, startService } from './service.mjs';

export const PLAIN_MODEL = 'text-embedding-3-large';
const OWN_MODEL = `openai/${PLAIN_MODEL}`;

let services = 0;

/** This service on a new database, with a key that has a limit and, by default, one destination. */
export async function openService(testbed, { environment, hasDestination = true } = {}) {
  const name = `bench_${++services}`;
  const databaseUrl = await createDatabase(testbed.server, name, testbed.signal);
  const { upstreamOrigin, nodeArguments, signal } = testbed;
  const service = await startService({ databaseUrl, upstreamOrigin, environment, nodeArguments, signal });
  testbed.onClose(service.stop);
  const sinkPath = `/${name}/`;
  if (hasDestination) await service.createDestination('webhook', { url: testbed.sinkOrigin + sinkPath });
  let answered = 0;
  return {
    ...service,
    kind: 'service',
    name: 'signalbox',
    url: `${service.baseUrl}/embeddings`,
    headers: { authorization: `Bearer ${service.key}` },
    model: OWN_MODEL,
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

async function openNginx(testbed) {
  const nginx = await findNginx(testbed.signal);
  if (nginx === null) return null;
  const { origin, pid, stop } = await startNginx({ ...nginx, ...testbed });
  testbed.onClose(stop);
  return { name: `nginx ${nginx.version}`, url: `${origin}/v1/embeddings`, pid };
}

const openProcess = (name, file) => async (testbed) => {
  const environment = { UPSTREAM_ORIGIN: testbed.upstreamOrigin, DATABASE_URL: testbed.server.url };
  const child = await testbed.startChild(file, environment);
  return { name, url: `${child.message.origin}/v1/embeddings`, pid: child.process.pid };
};

async function openCommittingPipe(testbed) {
  const pipe = await openProcess('committing pipe', 'committing-pipe-process.mjs')(testbed);
  return { ...pipe, databasePid: testbed.databasePid };
}

async function openPeer(testbed) {
  const peer = testbed.withPeer ? await startPeer(testbed) : null;
  if (peer === null) return null;
  testbed.onClose(peer.stop);
  return { ...peer, name: `Portkey ${peer.version}`, url: `${peer.baseUrl}/embeddings` };
}

/** By kind; null for a gateway that this machine does not have. */
export const GATEWAY_STARTERS = {
  direct: (testbed) => ({ name: 'no gateway', url: `${testbed.upstreamOrigin}/v1/embeddings` }),
  nginx: openNginx,
  pipe: openProcess('bare Node pipe', 'pipe-process.mjs'),
  'committing-pipe': openCommittingPipe,
  nest: openProcess('bare Nest gateway', 'nest-gateway-process.mjs'),
  service: (testbed) => openService(testbed),
  peer: openPeer,
};
