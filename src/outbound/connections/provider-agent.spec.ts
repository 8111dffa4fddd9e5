// Requests to providers through a real CONNECT proxy on loopback.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startConnectProxy } from '../../../test/support/upstreams/connect-proxy.js';
import type { ConnectProxy } from '../../../test/support/upstreams/connect-proxy.js';
import type { OutboundProxies } from '../../config/environment-reader.js';
import { HttpClient } from '../http-client.js';

const LIMITS = { timeout: 20_000, maxResponseBytes: 10_000 };

let proxy: ConnectProxy;
let server: Server;
let port: number;
let answer: RequestListener;
const clients: HttpClient[] = [];
beforeEach(async () => {
  proxy = await startConnectProxy({ userInfo: 'operator:s3cret' });
  answer = (_request, response) => response.end('{}');
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.onApplicationShutdown();
  await proxy.close();
  server.closeAllConnections();
  server.close();
});

const proxyUrl = (userInfo = 'operator:s3cret') => `http://${userInfo}@127.0.0.1:${proxy.port}`;
function get(proxies: OutboundProxies, url = `http://provider.example:${port}/v1`) {
  const client = new HttpClient(proxies);
  clients.push(client);
  return client.send({ method: 'GET', url, headers: {} }, LIMITS);
}

it('reaches a provider by its name, through a tunnel that carries the request unchanged', async () => {
  const paths: (string | undefined)[] = [];
  answer = ({ url, headers }, response) => {
    paths.push(url, headers.host, headers['proxy-authorization']);
    response.end('{}');
  };
  expect((await get({ httpProxy: proxyUrl() })).status).toBe(200);
  expect(proxy.targets).toEqual([`provider.example:${port}`]);
  expect(paths).toEqual(['/v1', `provider.example:${port}`, undefined]);
});

it('uses the proxy for https where no other is set', async () => {
  await expect(get({ httpProxy: proxyUrl() }, `https://provider.example:${port}/`)).rejects.toMatchObject({
    name: 'Error',
  });
  expect(proxy.targets).toEqual([`provider.example:${port}`]);
});

it.each(['127.0.0.1', 'other.example, 127.0.0.1:PORT', '*'])(
  'goes around it with NO_PROXY=%s',
  async (list) => {
    const noProxy = list.replace('PORT', String(port));
    expect((await get({ httpProxy: proxyUrl(), noProxy }, `http://127.0.0.1:${port}/`)).status).toBe(200);
    expect(proxy.targets).toEqual([]);
  },
);

it('reports the status of a proxy that refuses, without its credentials', async () => {
  const failure = await get({ httpProxy: proxyUrl('operator:wr0ng') }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: 'the proxy answered 407' });
  expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toMatch(/wr0ng|operator/);
});

describe('behind the proxy', () => {
  it('requests to one origin run at the same time', async () => {
    const waiting: (() => void)[] = [];
    const all = new Promise<void>((resolve) => {
      answer = (_request, response) => {
        waiting.push(() => response.end('{}'));
        if (waiting.length === 50) resolve();
      };
    });
    const client = new HttpClient({ httpProxy: proxyUrl() });
    clients.push(client);
    const url = `http://provider.example:${port}/`;
    const sent = Array.from({ length: 50 }, () => client.send({ method: 'GET', url, headers: {} }, LIMITS));
    await all;
    for (const end of waiting) end();
    expect((await Promise.all(sent)).every(({ status }) => status === 200)).toBe(true);
  });

  it('the reads of an answer stay bounded', async () => {
    answer = (_request, response) => {
      for (let count = 0; count < 10_000; count++) response.writeProcessing();
      response.end('{}');
    };
    await expect(get({ httpProxy: proxyUrl() })).rejects.toThrow(/the answer with its framing is larger/);
  });

  it('a time-out ends the request', async () => {
    answer = () => undefined;
    const client = new HttpClient({ httpProxy: proxyUrl() });
    clients.push(client);
    const url = `http://provider.example:${port}/`;
    await expect(
      client.send({ method: 'GET', url, headers: {} }, { ...LIMITS, timeout: 50 }),
    ).rejects.toThrow('no answer in time');
  });
});
