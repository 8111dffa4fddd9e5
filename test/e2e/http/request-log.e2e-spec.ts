// The log line of every request of the built service, and data that no line contains.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { canariesIn, canary } from '../../support/app/canaries.js';
import { SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

type Line = Readonly<Record<string, unknown>>;

let app: TestApp;
let upstream: StubUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startStubUpstream();
  app = await createTestApp();
  service = await startServiceProcess({
    DATABASE_URL: app.databaseUrl,
    LOG_LEVEL: 'info',
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    PROVIDER_RETRIES: '0',
    TRUSTED_PROXIES: '127.0.0.0/8',
  });
});
afterAll(async () => {
  await service.kill();
  await app.close();
  await upstream.close();
});

const linesOf = (requestId: string): Line[] =>
  service.lines.map((line) => JSON.parse(line) as Line).filter((line) => line['requestId'] === requestId);

/** The line of the request with this id, once it is written. */
async function requestLine(requestId: string): Promise<Line> {
  const find = (): Line | undefined => linesOf(requestId).find((line) => line['context'] === 'Requests');
  await eventually(
    () => Promise.resolve(find()),
    (line) => line !== undefined,
  );
  return find()!;
}

async function send(path: string, requestId: string, options: RequestInit = {}): Promise<Response> {
  const response = await fetch(service.baseUrl.replace('/api/v1', '') + path, {
    ...options,
    headers: { 'x-request-id': requestId, ...(options.headers as Record<string, string>) },
  });
  await response.arrayBuffer();
  return response;
}

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });
const embedding = (input: string, secret = app.apiKey): RequestInit => ({
  method: 'POST',
  headers: { ...bearer(secret), 'content-type': 'application/json', 'user-agent': canary('UserAgent') },
  body: JSON.stringify({ model: SMALL, input, user: canary('User') }),
});

describe('the log line of a request', () => {
  it('names caller, route, outcome and duration', async () => {
    const { status } = await send('/api/v1/embeddings', 'ordinary', embedding('hello'));
    expect(status).toBe(200);
    expect(await requestLine('ordinary')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      pid: expect.any(Number),
      context: 'Requests',
      requestId: 'ordinary',
      method: 'POST',
      route: '/api/v1/embeddings',
      status: 200,
      durationMs: expect.any(Number),
      bytes: expect.any(Number),
      accountId: app.accountId,
      workspaceId: app.workspaceId,
      keyHash: app.key.hash,
      msg: 'request',
    });
    expect(linesOf('ordinary')).toHaveLength(1);
  });

  it('names the pattern of the route, never the path', async () => {
    await send(`/api/v1/keys/${canary('Hash')}?page=${canary('Query')}`, 'template', {
      headers: bearer(app.managementKey),
    });
    expect(await requestLine('template')).toMatchObject({
      level: 'warn',
      route: '/api/v1/keys/:hash',
      status: 404,
    });
  });

  it('has no route for an unknown path', async () => {
    await send(`/${canary('Path')}`, 'nowhere');
    const line = await requestLine('nowhere');
    expect(line).toMatchObject({ level: 'warn', route: null, status: 404, code: 'not_found' });
    expect(line).not.toHaveProperty('accountId');
  });

  it('has the code of an error, and no caller for a rejected credential', async () => {
    await send('/api/v1/key', 'stranger', {
      headers: { ...bearer(canary('Secret')), 'x-forwarded-for': '6.6.6.6, ::ffff:198.51.100.9' },
    });
    const line = await requestLine('stranger');
    expect(line).toMatchObject({
      level: 'warn',
      status: 401,
      code: 'invalid_credential',
      address: '198.51.100.9',
    });
    expect(line).not.toHaveProperty('keyHash');
  });

  it('has the level error when the service or its provider failed', async () => {
    upstream.answerWith((_request, response) =>
      sendJson(response, 500, { error: { message: `cannot embed ${canary('Echo')}` } }),
    );
    await send('/api/v1/embeddings', 'failure', embedding(canary('Input')));
    expect(await requestLine('failure')).toMatchObject({
      level: 'error',
      status: 502,
      code: 'provider_error',
    });
  });

  it('is written for an aborted request as well', async () => {
    const asked = new Promise<void>((resolve) => upstream.answerWith(() => resolve()));
    const call = request(`${service.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { ...bearer(app.apiKey), 'content-type': 'application/json', 'x-request-id': 'given-up' },
    });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ model: SMALL, input: 'hello' }));
    await asked;
    call.destroy();
    expect(await requestLine('given-up')).toMatchObject({
      level: 'warn',
      status: null,
      msg: 'request aborted',
      keyHash: app.key.hash,
    });
  });

  it('is not that of an aborted request when the connection was only for one response', async () => {
    const options = {
      agent: false,
      headers: { ...bearer(app.apiKey), connection: 'close', 'x-request-id': 'once' },
    };
    const call = request(`${service.baseUrl}/key`, options).end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'close');
    expect(await requestLine('once')).toMatchObject({ level: 'info', status: 200, msg: 'request' });
  });

  it('is that of an aborted request when the caller disconnects within a large response', async () => {
    upstream.answerWith(null);
    const call = request(`${service.baseUrl}/embeddings`, {
      method: 'POST',
      headers: { ...bearer(app.apiKey), 'content-type': 'application/json', 'x-request-id': 'half-read' },
    });
    call.on('error', () => undefined);
    // More than both sockets buffer, and the caller reads none of it.
    call.end(JSON.stringify({ model: SMALL, input: Array.from({ length: 2_048 }, (_, at) => `${at}`) }));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.destroy();
    expect(await requestLine('half-read')).toMatchObject({
      level: 'warn',
      status: 200,
      msg: 'request aborted',
    });
  });

  it('is omitted for probes and preflights at the level info', async () => {
    for (const path of ['/health', '/ready', '/metrics']) await send(path, 'probe');
    await send('/api/v1/embeddings', 'probe', { method: 'OPTIONS' });
    await send('/api/v1/key', 'after-probes', { headers: bearer(app.apiKey) });
    await requestLine('after-probes');
    expect(linesOf('probe')).toEqual([]);
  });
});

it('contains no text of callers or providers, and no secret', () => {
  const text = service.lines.join('\n');
  expect(canariesIn(text)).toEqual([]);
  for (const secret of [app.apiKey, app.managementKey, 'upstream-key']) expect(text).not.toContain(secret);
});

// The last test: it ends the service.
it('is written for every answered request when the process ends', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `burst-${index}`);
  await Promise.all(
    ids.map(async (id) => {
      const response = await fetch(`${service.baseUrl}/key`, {
        headers: { ...bearer(app.apiKey), 'x-request-id': id },
      });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }),
  );
  expect(await service.stop()).toBe(0);
  const logged = service.lines.map((line) => (JSON.parse(line) as { readonly requestId?: string }).requestId);
  expect(logged).toEqual(expect.arrayContaining(ids));
});
