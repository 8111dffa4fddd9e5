// Responses that no route writes: unknown paths and methods, malformed connections, request ids. All errors have one
// shape; those of bodies, credentials and the database have their own files.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { sendExactly, writeToSocket } from '../../support/requests/raw-requests.js';

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await createTestApp();
  authorization = `Bearer ${app.managementKey}`;
});
afterAll(() => app.close());

const destinations = () => `${app.baseUrl}/observability/destinations`;

describe('unknown paths and methods', () => {
  it.each([
    '/index.html/',
    '/api',
    '/api/v1',
    '/api/v1/nothing',
    '/api/v2/embeddings',
    '/embeddings',
    '/api/v1/keys/a/b',
    '/api/v1/%zz',
    '/api/v1//embeddings',
    '/favicon.gif',
    '/api/v1/__proto__',
  ])('return 404 for the path %s, with a key and without', async (path) => {
    for (const headers of [{}, { authorization }] as Record<string, string>[]) {
      expectError(await sendExactly(app.origin + path, { headers }), 404, 'Resource not found: no such path');
    }
  });

  it('return the error shape for a path with invalid percent-encoding', async () => {
    const answer = await sendExactly(`${app.baseUrl}/keys/%zz`, { headers: { authorization } });
    expectError(answer, 400);
  });

  it.each([
    ['DELETE', '/api/v1/observability/destinations', 'GET, POST'],
    ['PUT', '/api/v1/observability/destinations', 'GET, POST'],
    ['OPTIONS', '/api/v1/observability/destinations', 'GET, POST'],
    ['GET', '/api/v1/embeddings', 'POST'],
    ['DELETE', '/api/v1/embeddings/', 'POST'],
    ['POST', '/api/v1/keys/x', 'DELETE, GET, PATCH'],
    ['QUERY', '/api/v1/keys/x', 'DELETE, GET, PATCH'],
    ['POST', '/health', 'GET'],
  ])('return 405 for %s %s, with Allow: %s', async (method, path, allowed) => {
    const answer = await sendExactly(app.origin + path, { method, headers: { authorization } });
    expectError(answer, 405, 'Method not allowed');
    expect(answer.headers['allow']).toBe(allowed);
  });

  it('are independent of the query', async () => {
    expectError(await sendExactly(`${app.baseUrl}/embeddings?x=1`, { method: 'PUT' }), 405);
    expect((await sendExactly(`${app.origin}/health?x=1`, {})).status).toBe(200);
  });
});

describe('connections', () => {
  it.each([
    ['garbage', '\x16\x03\x01 this is not HTTP\r\n\r\n', 'malformed HTTP'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed HTTP'],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n', 'malformed HTTP'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'malformed HTTP',
    ],
    [
      'endless headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
      'the headers are too large',
    ],
  ])('get a 400 in the error shape: %s', async (_name, characters, detail) => {
    expectError(await writeToSocket(app.origin, characters), 400, `Invalid request parameters: ${detail}`);
  });

  it('have no effect when a caller disconnects within a body', async () => {
    const controller = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        stream.enqueue(Buffer.from('{'));
        controller.abort();
      },
    });
    const hungUp = fetch(destinations(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body,
      duplex: 'half',
      signal: controller.signal,
    });
    await expect(hungUp).rejects.toThrow();
    expect((await sendExactly(`${app.origin}/health`, {})).status).toBe(200);
  });
});

describe('x-request-id', () => {
  const requestIdFor = async (given?: string): Promise<string | undefined> =>
    (
      await sendExactly(`${app.origin}/health`, {
        headers: given === undefined ? {} : { 'x-request-id': given },
      })
    ).headers['x-request-id'];

  it.each(['a', 'trace-1.2:3_4', '01934b2c-0000-7000-8000-00000000abcd', 'x'.repeat(128)])(
    'returns a valid one unchanged: %s',
    async (given) => {
      expect(await requestIdFor(given)).toBe(given);
    },
  );

  it.each([undefined, '', 'x'.repeat(129), 'two words', '<script>', '-dash', 'a,b', 'é'])(
    'replaces an invalid one: %s',
    async (given) => {
      expect(await requestIdFor(given)).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );

  it('appears in errors as well', async () => {
    const headers = { 'x-request-id': 'mine' };
    for (const url of [destinations(), `${app.origin}/nothing`, `${app.baseUrl}/keys/x`]) {
      expect((await sendExactly(url, { headers })).headers['x-request-id']).toBe('mine');
    }
  });
});

describe('/health and /ready', () => {
  it('respond without a credential, outside the version prefix', async () => {
    expect(await sendExactly(`${app.origin}/health`, {})).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await sendExactly(`${app.origin}/ready`, {})).toMatchObject({
      status: 200,
      body: { status: 'ready' },
    });
  });

  it('reveal no software names in any response', async () => {
    const { headers } = await sendExactly(`${app.origin}/health`, {});
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['server']).toBeUndefined();
  });
});
