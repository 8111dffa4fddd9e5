// Graceful shutdown: in-flight work is finished and recorded, even for disconnected callers.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { HISTORY_STEP_TIME } from '../../../src/config/shutdown-times.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { EMBEDDINGS, SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { answerLikeOpenAi, sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../../support/upstreams/stub-upstream.js';

// Milliseconds. An insert has 30 seconds.
const SLACK = 20_000;

let app: TestApp;
let upstream: StubUpstream;
let service: ServiceProcess | null = null;
const held: { readonly request: ReceivedRequest; readonly response: ServerResponse }[] = [];
beforeAll(async () => {
  app = await createTestApp();
  upstream = await startStubUpstream((request, response) => {
    held.push({ request, response });
  });
});
afterEach(async () => {
  await service?.kill();
  held.length = 0;
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  service = await startServiceProcess({
    DATABASE_URL: app.databaseUrl,
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    LOG_LEVEL: 'warn',
    PROVIDER_RETRY_BASE_DELAY_MS: '1',
    ...environment,
  });
  return service;
}

const untilHeld = (wanted: number) =>
  eventually(
    async () => held.length,
    (count) => count === wanted,
  );

const call = ({ baseUrl }: ServiceProcess, body: object): Promise<Response> =>
  fetch(`${new URL(baseUrl).origin}${EMBEDDINGS}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** A call at the upstream whose caller has disconnected. */
async function leaveCall({ baseUrl, lines }: ServiceProcess): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const body = JSON.stringify({ model: SMALL, input: 'hello' });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${EMBEDDINGS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${app.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await untilHeld(1);
  socket.destroy();
  await eventually(
    async () => lines.filter((line) => line.includes('aborted')).length,
    (count) => count === 1,
  );
}

/** Resolves when the process admits no request any more. */
const untilClosed = ({ baseUrl }: ServiceProcess) =>
  eventually(
    () =>
      fetch(baseUrl).then(
        () => false,
        () => true,
      ),
    (isClosed) => isClosed,
  );

const newestGeneration = () =>
  app.sql<{ status: number; cost: string }>(
    'SELECT status, cost::text FROM generations ORDER BY created_at DESC LIMIT 1',
  );

/** One request over the agent's connection: its status, and whether the connection was a kept one. */
async function ask(
  { baseUrl }: ServiceProcess,
  agent: Agent,
  path: string,
  body = '',
): Promise<{ readonly status: number | undefined; readonly isKept: boolean }> {
  const headers = { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' };
  const asked = sendRequest(new URL(path, baseUrl), { agent, headers, method: body === '' ? 'GET' : 'POST' });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  await text(response);
  return { status: response.statusCode, isKept: asked.reusedSocket };
}

describe.each([
  ['one process', {}],
  ['workers and a delivery process', { WORKERS: '2', DELIVERY_PROCESS: 'own' }],
])('SHUTDOWN_ANNOUNCE_MS of %s', (_of, processes) => {
  const CALL = JSON.stringify({ model: 'local/hashing', input: 'hello', dimensions: 8 });
  // Longer than a test may take.
  const LONG = {
    ...processes,
    SHUTDOWN_ANNOUNCE_MS: '600000',
    PROVIDER_TIMEOUT_MS: '600000',
    OPERATION_DEADLINE_MS: '600000',
  };

  it('answers 503 from /ready and still serves calls, on kept and new connections', async () => {
    const running = await start(LONG);
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const fresh = new Agent({ keepAlive: false });
    try {
      expect((await ask(running, kept, '/ready')).status).toBe(200);
      const inFlight = call(running, { model: SMALL, input: 'hello' });
      await untilHeld(1);
      const stopped = running.stop();
      for (const agent of [kept, fresh, fresh])
        await eventually(
          () => ask(running, agent, '/ready'),
          ({ status }) => status === 503,
        );
      expect(await ask(running, kept, EMBEDDINGS, CALL)).toEqual({ status: 200, isKept: true });
      for (const path of [EMBEDDINGS, EMBEDDINGS])
        expect(await ask(running, fresh, path, CALL)).toEqual({ status: 200, isKept: false });
      expect((await ask(running, fresh, '/health')).status).toBe(200);

      // Ends the announcement: the sockets close, and the call in flight is still answered.
      running.signal('SIGINT');
      await untilClosed(running);
      for (const { request: received, response } of held) answerLikeOpenAi(received, response);
      expect((await inFlight).status).toBe(200);
      expect(await stopped).toBe(0);
    } finally {
      kept.destroy();
    }
  });

  it('ends kept connections before the sockets close', async () => {
    const running = await start({ ...processes, SHUTDOWN_ANNOUNCE_MS: '4000' });
    const stopped = running.stop();
    await eventually(
      async () => (await fetch(new URL('/health', running.baseUrl))).headers.get('connection'),
      (connection) => connection === 'close',
    );
    expect(await stopped).toBe(0);
  });

  it('ends by itself', async () => {
    const running = await start({ ...processes, SHUTDOWN_ANNOUNCE_MS: '300' });
    const begun = performance.now();
    expect(await running.stop()).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(300);
  });

  it('is skipped by a second SIGTERM, but not by the echo of the first', async () => {
    const running = await start(LONG);
    const begun = performance.now();
    let hasEnded = false;
    const stopped = running.stop().finally(() => (hasEnded = true));
    await eventually(
      async () => {
        running.signal('SIGTERM');
        return hasEnded;
      },
      (ended) => ended,
    );
    expect(await stopped).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(1_000);
  });
});

it('is not announced to a terminal', async () => {
  const running = await start({ SHUTDOWN_ANNOUNCE_MS: '600000', WORKERS: '2' });
  running.signal('SIGINT');
  await untilClosed(running);
  expect(await running.stop()).toBe(0);
});

it('lets a call whose caller has left go on, and records what it has cost', async () => {
  const running = await start({ DELIVERY_PROCESS: 'own' });
  await leaveCall(running);
  const stopped = running.stop();
  await untilClosed(running);
  const [first] = held;
  if (first) sendJson(first.response, 503, {});
  await untilHeld(2);
  const [, second] = held;
  if (second) answerLikeOpenAi(second.request, second.response);
  expect(await stopped).toBe(0);
  const [generation] = await newestGeneration();
  expect(generation?.status).toBe(200);
  expect(Number(generation?.cost)).toBeGreaterThan(0);
});

it('leaves no new connection waiting while workers finish their calls', async () => {
  const running = await start({ WORKERS: '2' });
  const { hostname, port } = new URL(running.baseUrl);
  const answer = call(running, { model: SMALL, input: 'hello' });
  await untilHeld(1);
  const closed = new AbortController();
  /** A connection after the other, each until it ends. */
  const knock = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      const socket = connect(Number(port), hostname, () =>
        socket.write('GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
      );
      socket.on('error', () => undefined).resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
  };
  const knocking = Array.from({ length: 20 }, knock);
  const stopped = running.stop();
  await untilClosed(running);
  closed.abort();
  // The call is still held: no connection ends because the process does.
  await Promise.all(knocking);
  for (const { request, response } of held) answerLikeOpenAi(request, response);
  expect((await answer).status).toBe(200);
  expect(await stopped).toBe(0);
});

it('responds to waiting callers, and ends although they keep their connections alive', async () => {
  const running = await start();
  // Kept-alive connections that last longer than a test may take.
  const answer = call(running, { model: SMALL, input: 'hello' });
  await untilHeld(1);
  const stopped = running.stop();
  await untilClosed(running);
  for (const { request, response } of held) answerLikeOpenAi(request, response);
  expect((await answer).status).toBe(200);
  expect(await stopped).toBe(0);
});

it('ends although ClickHouse does not answer an insert of the history', async () => {
  let insertReceived = (): void => undefined;
  const received = new Promise<void>((resolve) => (insertReceived = resolve));
  const version = JSON.stringify({ version: 2, identity: randomUUID(), rows: '1' });
  const clickhouse = createServer((request, response) => {
    if (request.url?.includes('INSERT')) insertReceived();
    else void text(request).then((query) => response.end(query.includes('max(version)') ? version : '1'));
  });
  clickhouse.listen(0, '127.0.0.1');
  await once(clickhouse, 'listening');
  const { port } = clickhouse.address() as AddressInfo;
  try {
    const running = await start({
      DELIVERY_PROCESS: 'own',
      HISTORY_CLICKHOUSE_URL: `http://127.0.0.1:${port}/signalbox`,
    });
    await call(running, { model: 'local/hashing', input: 'hello', dimensions: 8 });
    await received;
    const begun = performance.now();
    expect(await running.stop()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(HISTORY_STEP_TIME + SLACK);
  } finally {
    clickhouse.closeAllConnections();
    clickhouse.close();
  }
});

it('ends after SHUTDOWN_GRACE_MS with any work in flight', async () => {
  const timeout = '2700000';
  const running = await start({
    SHUTDOWN_GRACE_MS: '100',
    OPERATION_DEADLINE_MS: timeout,
    PROVIDER_TIMEOUT_MS: timeout,
  });
  await leaveCall(running);
  expect(await running.stop()).toBe(0);
});
