// Public routes use a bounded part of the process, for any requests and any reader of the responses.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { underLoad } from '../../support/extent.js';
import { retainedMemory } from '../../support/memory.js';

const CONNECTIONS = 10;
const REQUESTS = underLoad(500);

let app: TestApp;
const sockets: Socket[] = [];
beforeAll(async () => {
  app = await createTestApp();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => app.close());

/** Sends so many requests on one connection and reads nothing. */
function ask(path: string): Socket {
  const { hostname, port } = new URL(app.origin);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(REQUESTS));
  sockets.push(socket);
  return socket;
}

async function publicInFlight(): Promise<number> {
  const { text } = await app.http.get('/metrics');
  return Number(/^signalbox_http_in_flight\{group="public"\} (\d+)$/m.exec(text)?.[1]);
}

describe('unread responses', () => {
  it.each(['/api/v1/openapi.json', '/api/v1/openapi.yaml'])('use bounded memory: %s', async (path) => {
    const { text, status } = await app.http.get(path);
    expect(status).toBe(200);
    const before = retainedMemory();
    for (let count = 0; count < CONNECTIONS; count++) ask(path);
    await eventually(publicInFlight, (count) => count >= CONNECTIONS);
    expect(await publicInFlight()).toBeLessThanOrEqual(128);
    // All of them would take several times as much, hundreds of times with the full load.
    expect(retainedMemory() - before).toBeLessThan(100_000_000 + 130 * text.length);
    expect((await app.http.get('/ready')).status).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(publicInFlight, (count) => count === 0);
  });
});

it('serves the documents with their types and tags, under their own names only', async () => {
  for (const [path, type] of [
    ['/api/v1/openapi.json', 'application/json; charset=utf-8'],
    ['/api/v1/openapi.yaml', 'text/yaml; charset=utf-8'],
  ] as const) {
    const { status, headers } = await app.http.get(path);
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect((await app.http.get(path).set('if-none-match', headers['etag'] ?? '')).status).toBe(304);
    expect((await app.http.get(`${path}/x`)).status).toBe(404);
    expect((await app.http.head(path)).status).toBe(200);
  }
  expect((await app.http.get('/docs')).status).toBeLessThan(400);
});
