// The number of requests of one connection in progress, and the order of their responses.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { boundPipelines } from './pipelined-responses.js';

const server = createServer();
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.removeAllListeners('request');
  server.closeAllConnections();
  server.close();
});

async function start(listener: RequestListener, bounds = {}): Promise<Socket> {
  server.on('request', boundPipelines(server, bounds)(listener));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

const requests = (count: number): string =>
  Array.from({ length: count }, (_none, index) => `GET /${index} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
const tick = () => new Promise((resolve) => setImmediate(resolve));

it('begins a few, pauses reading, and answers all in order', async () => {
  const COUNT = 20_000;
  const begun: ServerResponse[] = [];
  let read = 0;
  server.prependListener('request', () => read++);
  const client = await start((_request, response) => void begun.push(response), { maxAtWork: 8 });
  let text = '';
  client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  client.write(requests(COUNT));
  while (begun.length < 9) await tick();
  for (let ticks = 0; ticks < 200; ticks++) await tick();
  expect(begun).toHaveLength(9);
  // One read of the connection, and no more.
  expect(read).toBeLessThan(4_000);
  let answered = 0;
  while (answered < COUNT) {
    for (const response of begun.splice(0)) response.end(`<${answered++}>`);
    await tick();
    expect(begun.length).toBeLessThanOrEqual(9);
  }
  while (!text.includes(`<${COUNT - 1}>`)) await tick();
  expect([...text.matchAll(/<(\d+)>/g)].map(([, index]) => Number(index))).toEqual(
    Array.from({ length: COUNT }, (_none, index) => index),
  );
});

it('reads the bodies of the requests that it begins', async () => {
  const bodies: string[] = [];
  const client = await start(
    (request, response) => {
      let body = '';
      request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        bodies.push(body.slice(0, 5));
        setImmediate(() => response.end());
      });
    },
    { maxAtWork: 2 },
  );
  client.resume();
  const body = (index: number): string => `${index}`.padStart(5, '0') + 'x'.repeat(100_000);
  for (let index = 0; index < 50; index++)
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100005\r\n\r\n${body(index)}`);
  while (bodies.length < 50) await tick();
  expect(bodies).toEqual(Array.from({ length: 50 }, (_none, index) => body(index).slice(0, 5)));
});

it('closes a connection that exceeds all bounds, with all its responses', async () => {
  const counts = { begun: 0, closed: 0 };
  const client = await start(
    (_request, response) => {
      counts.begun++;
      response.once('close', () => counts.closed++);
    },
    { maxAtWork: 4, maxUnbegun: 10 },
  );
  const isGone = once(client, 'close');
  client.resume().write(requests(100));
  await isGone;
  while (counts.closed < 5) await tick();
  expect(counts).toEqual({ begun: 5, closed: 5 });
});
