// Load shedding: requests beyond the limit are rejected at once and unread, and admitted ones are served to the end.
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestAccount } from '../../support/app/app.js';
import { embed, LOCAL, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { getKey } from '../../support/requests/get-key.js';
import { sendExactly } from '../../support/requests/raw-requests.js';
import { SlowTransfers } from '../../../src/http/server/slow-transfers.js';
import { answerLikeOpenAi } from '../../support/upstreams/stub-upstream.js';
import type { ReceivedRequest } from '../../support/upstreams/stub-upstream.js';

const MAX_CALLS = 20;
const BYTES = 100_000;
const CALL = { model: SMALL, input: 'hello', dimensions: 8 };
const TOO_MANY = 'Service temporarily unavailable: too many requests in flight; retry shortly';
const TOO_LARGE =
  'Service temporarily unavailable: the requests in flight hold too many bytes; retry shortly';

let setup: Setup;
const held: { readonly request: ReceivedRequest; readonly response: ServerResponse }[] = [];
beforeAll(async () => {
  setup = await startWithUpstream({
    MAX_CALLS_IN_FLIGHT: String(MAX_CALLS),
    MAX_BYTES_IN_FLIGHT: String(BYTES),
    OPERATION_DEADLINE_MS: '60000',
  });
});
afterEach(async () => {
  letGo();
  setup.upstream.answerWith(null);
  await untilFree();
});
afterAll(() => setup.close());

/** From now on calls wait at the upstream until letGo. */
function hold(): void {
  setup.upstream.answerWith((request, response) => {
    held.push({ request, response });
  });
}

function letGo(): void {
  for (const { request, response } of held.splice(0)) answerLikeOpenAi(request, response);
}

const untilHeld = (count: number) =>
  eventually(
    async () => held.length,
    (length) => length === count,
  );

const send = (body: object) => embed(setup.app, body).then((response) => response);

/** Sends so many calls and waits until the upstream has received all of them. */
async function fill(count: number) {
  hold();
  const answers = Array.from({ length: count }, () => send(CALL));
  await untilHeld(count);
  return answers;
}

const rawCall = (): string => {
  const body = JSON.stringify(CALL);
  return (
    `POST /api/v1/embeddings HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${setup.app.apiKey}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
};

function sendRaw(text: string | Uint8Array): Socket {
  const { hostname, port } = new URL(setup.app.origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

async function metric(name: string): Promise<number> {
  const { text } = await setup.app.http.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}

/** The in-flight requests of a group, and their bytes. */
const inFlight = async (group: string) => [
  await metric(`signalbox_http_in_flight{group="${group}"}`),
  await metric(`signalbox_http_in_flight_bytes{group="${group}"}`),
];

const untilFree = () =>
  eventually(
    () => inFlight('calls'),
    ([calls, bytes]) => calls === 0 && bytes === 0,
  );

describe('the limit of calls in flight', () => {
  it('rejects the next call with 503 and Retry-After, serves the admitted ones, then admits again', async () => {
    const answers = await fill(MAX_CALLS);
    const rejectedBefore = await metric('signalbox_http_refused_total{group="calls",reason="calls"}');
    const rejected = await Promise.all(Array.from({ length: 3 * MAX_CALLS }, () => send(CALL)));
    for (const answer of rejected) {
      expectError(answer, 503, TOO_MANY);
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect(held).toHaveLength(MAX_CALLS);
    expect(await metric('signalbox_http_refused_total{group="calls",reason="calls"}')).toBe(
      (rejectedBefore || 0) + 3 * MAX_CALLS,
    );
    letGo();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    setup.upstream.answerWith(null);
    await untilFree();
    expect((await send(CALL)).status).toBe(200);
  });

  it('rejects before it reads a credential or a body', async () => {
    const answers = await fill(MAX_CALLS);
    const text = await new Promise<string>((resolve, reject) => {
      // A body is announced and never sent.
      const socket = sendRaw(
        'POST /api/v1/embeddings HTTP/1.1\r\nhost: a\r\nconnection: close\r\n' +
          'content-type: application/json\r\ncontent-length: 50000\r\n\r\n',
      );
      socket.setEncoding('utf8');
      socket.once('data', (chunk: string) => {
        socket.destroy();
        resolve(chunk);
      });
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    letGo();
    await Promise.all(answers);
  });

  it('leaves room for operators, probes and metrics', async () => {
    const answers = await fill(MAX_CALLS);
    const { app } = setup;
    expect((await getKey(app, app.key.hash)).status).toBe(200);
    expect((await app.http.get('/health')).status).toBe(200);
    expect((await app.http.get('/ready')).status).toBe(200);
    letGo();
    await Promise.all(answers);
  });

  it('counts a call of a disconnected caller until its work has ended', async () => {
    hold();
    const sockets = Array.from({ length: MAX_CALLS }, () => sendRaw(rawCall()));
    await untilHeld(MAX_CALLS);
    for (const socket of sockets) socket.destroy();
    await eventually(
      () =>
        new Promise<number>((resolve) =>
          setup.app.application
            .getHttpServer()
            .getConnections((_error: unknown, count: number) => resolve(count)),
        ),
      (count) => count < MAX_CALLS,
    );
    expectError(await send(CALL), 503, TOO_MANY);
    letGo();
    await untilFree();
  });

  it('releases calls that waited behind another one of a lost connection', async () => {
    hold();
    const aborted =
      'signalbox_http_requests_total{method="POST",route="/api/v1/embeddings",status="aborted"}';
    const abortedBefore = (await metric(aborted)) || 0;
    const socket = sendRaw(rawCall().repeat(MAX_CALLS));
    await untilHeld(MAX_CALLS);
    socket.destroy();
    await eventually(
      () => metric(aborted),
      (count) => count === abortedBefore + MAX_CALLS,
    );
    letGo();
    await untilFree();
  });

  it('does not count responses that wait for their turn, however many', async () => {
    const socket = sendRaw(rawCall().repeat(MAX_CALLS / 2));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await eventually(
      async () => text.split('HTTP/1.1 200 OK').length - 1,
      (answers) => answers === MAX_CALLS / 2,
    );
    await untilFree();
    socket.destroy();
  });
});

describe('an account that uses the whole limit', () => {
  const callOf = (key: string, body: object = CALL) =>
    setup.app.http
      .post('/api/v1/embeddings')
      .set('authorization', `Bearer ${key}`)
      .send(body)
      .then((answer) => answer);
  let others: readonly TestAccount[];
  beforeAll(async () => {
    others = [await setup.app.createAccount(), await setup.app.createAccount()];
  });

  it('does not lock out others: half as many calls again are reserved for accounts that hold little', async () => {
    const answers = await fill(MAX_CALLS);
    const [second, third] = others.map(({ apiKey }) => apiKey);
    const ofOthers = [];
    for (let count = 1; count <= 5; count++) {
      ofOthers.push(callOf(second ?? ''));
      await untilHeld(MAX_CALLS + 2 * count - 1);
      ofOthers.push(callOf(third ?? ''));
      await untilHeld(MAX_CALLS + 2 * count);
    }
    for (const key of [setup.app.apiKey, second, third]) expectError(await callOf(key ?? ''), 503, TOO_MANY);
    letGo();
    for (const answer of await Promise.all([...answers, ...ofOthers])) expect(answer.status).toBe(200);
  });

  it('does not lock out others by announced bytes that arrive one by one', async () => {
    const head = (length: number): string =>
      `POST /api/v1/embeddings HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${setup.app.apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${' '.repeat(30)}`;
    const sockets = Array.from({ length: MAX_CALLS }, () => sendRaw(head(BYTES / 2)));
    const answers = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          let text = '';
          socket.on('data', (chunk) => (text += String(chunk)));
          socket.once('close', () => resolve(text));
        }),
    );
    await eventually(
      () => inFlight('calls'),
      ([calls, bytes = 0]) => calls === MAX_CALLS && bytes > 0,
    );
    expect((await callOf(others[0]?.apiKey ?? '')).status).toBe(200);
    const transfers = setup.app.application.get(SlowTransfers);
    let now = performance.now() + 1_000_000;
    for (let look = 0; look < 12; look++) transfers.look((now += 1_000));
    for (const text of await Promise.all(answers)) expect(text).toMatch(/^HTTP\/1\.1 408 /);
    await untilFree();
  });

  it('does not lock out others by responses that it does not read', async () => {
    const bytes = { model: SMALL, dimensions: 1_536, input: ['a', 'b'] };
    hold();
    const first = callOf(setup.app.apiKey, bytes);
    await untilHeld(1);
    expectError(await callOf(setup.app.apiKey, bytes), 503, TOO_LARGE);
    const other = callOf(others[0]?.apiKey ?? '', { ...bytes, input: 'a' });
    await untilHeld(2);
    letGo();
    expect([(await first).status, (await other).status]).toEqual([200, 200]);
  });
});

describe('the limit of bytes in flight', () => {
  const large = (bytes: number) => ({
    model: LOCAL,
    dimensions: 8,
    input: Array.from({ length: 20 }, () => 'a '.repeat(bytes / 40)),
  });

  it('rejects a body that does not fit beside the others, and accepts it alone', async () => {
    hold();
    const first = send({ ...CALL, input: 'word '.repeat(BYTES / 20) });
    await untilHeld(1);
    const answer = await send(large(BYTES));
    expectError(answer, 503, TOO_LARGE);
    expect(answer.headers['retry-after']).toBe('1');
    letGo();
    expect((await first).status).toBe(200);
    await untilFree();
    expect((await send(large(BYTES))).status).toBe(200);
  });

  it('rejects a small body with a large response before it calls a provider', async () => {
    hold();
    const first = send({ ...CALL, dimensions: 1_536 });
    await untilHeld(1);
    const many = { model: SMALL, input: Array.from({ length: 200 }, () => 'hello') };
    expectError(await send(many), 503, TOO_LARGE);
    expect(held).toHaveLength(1);
    letGo();
    expect((await first).status).toBe(200);
  });

  const headers = () => ({
    authorization: `Bearer ${setup.app.apiKey}`,
    'content-type': 'application/json',
  });
  const postInPieces = () =>
    setup.app.http.post('/api/v1/embeddings').set({ ...headers(), 'transfer-encoding': 'chunked' });
  const postPacked = (body: Uint8Array) =>
    sendExactly(`${setup.app.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { ...headers(), 'content-encoding': 'gzip' },
      body,
    });

  it.each([{}, { 'content-encoding': 'identity' }])(
    'counts a body without a length as it arrives: %j',
    async (encoding) => {
      hold();
      const first = send({ ...CALL, input: 'word '.repeat(BYTES / 20) });
      await untilHeld(1);
      const small = postInPieces();
      small.write(JSON.stringify(CALL));
      const second = small.then((answer) => answer);
      await untilHeld(2);
      const much = postInPieces().set(encoding);
      for (let piece = 0; piece < 10; piece++) much.write(' '.repeat(BYTES / 10));
      much.write(JSON.stringify(CALL));
      expectError(await much, 503, TOO_LARGE);
      letGo();
      expect([(await first).status, (await second).status]).toEqual([200, 200]);
    },
  );

  it('counts the unpacked bytes of a compressed body as they are unpacked', async () => {
    hold();
    const first = send({ ...CALL, input: 'word '.repeat(BYTES / 20) });
    await untilHeld(1);
    const packed = gzipSync(JSON.stringify(CALL) + ' '.repeat(BYTES));
    expect(packed.length).toBeLessThan(1_000);
    expectError(await postPacked(packed), 503, TOO_LARGE);
    const second = postPacked(gzipSync(JSON.stringify(CALL)));
    await untilHeld(2);
    letGo();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await untilFree();
    setup.upstream.answerWith(null);
    expect((await postPacked(packed)).status).toBe(200);
  });
});

describe('a caller that disconnects while its body is unpacked', () => {
  // About a kilobyte, and enough unpacking for the connection to end first.
  const body = gzipSync(`{"name":"key"${' '.repeat(1_000_000)}}`);

  function packed(path: string, key: string): Buffer {
    const head =
      `POST /api/v1${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), body]);
  }

  it.each(['calls', 'operations'])('leaves no permit behind: %s', async (group) => {
    const [path, key] =
      group === 'calls' ? ['/embeddings', setup.app.apiKey] : ['/keys', setup.app.managementKey];
    const requests = `signalbox_http_requests_total{method="POST",route="/api/v1${path}"`;
    // Once a key is known, nothing delays the reading of the body.
    const isAnswered = async (): Promise<boolean> => {
      const before = await metric(`${requests},status="${group === 'calls' ? 400 : 201}"}`);
      const socket = sendRaw(packed(path, key));
      await new Promise((resolve) => socket.resume().once('close', resolve));
      return (await metric(`${requests},status="${group === 'calls' ? 400 : 201}"}`)) > (before || 0);
    };
    expect(await isAnswered()).toBe(true);
    const aborted = `${requests},status="aborted"}`;
    const abortedBefore = (await metric(aborted)) || 0;
    for (let count = 1; count <= 5; count++) {
      const socket = sendRaw('');
      socket.write(packed(path, key), () => socket.destroy());
      await eventually(
        () => metric(aborted),
        (left) => left === abortedBefore + count,
      );
    }
    // Sent behind them, and so ends behind them.
    expect(await isAnswered()).toBe(true);
    expect(await inFlight(group)).toEqual([0, 0]);
  });
});
