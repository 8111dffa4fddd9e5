// Calls wait for a permit of their endpoint, and never in the connections.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { HttpClient } from './http-client.js';

const REQUESTS = 300;

const server = createServer();
const client = new HttpClient();
afterEach(async () => {
  await client.onApplicationShutdown();
  server.closeAllConnections();
  server.close();
});

it('sends up to the given number of requests to one origin at once', async () => {
  const answers: (() => void)[] = [];
  server.on('request', (_request, response) => answers.push(() => response.end('{}')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const limits = { timeout: 60_000, maxResponseBytes: 1_000 };
  const sent = Array.from({ length: REQUESTS }, () =>
    client.send({ method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {} }, limits),
  );
  await eventually(
    () => Promise.resolve(answers.length),
    (count) => count === REQUESTS,
  );
  for (const answer of answers) answer();
  expect((await Promise.all(sent)).every(({ status }) => status === 200)).toBe(true);
});
