// Deliveries through a proxy: the URL guard decides where a tunnel ends, TLS is verified against the name.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import { createServer as createPlainServer } from 'node:http';
import type { Server as PlainServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '../../../test/support/upstreams/certificate.js';
import { TestClock } from '../../../test/support/app/clock.js';
import { startConnectProxy } from '../../../test/support/upstreams/connect-proxy.js';
import type { ConnectProxy } from '../../../test/support/upstreams/connect-proxy.js';
import { ScriptedResolver } from '../../../test/support/app/name-resolver.js';
import type { AppConfig } from '../../config/app-config.js';
import { ConnectionPool } from './connection-pool.js';
import { DestinationClient } from '../destination-client.js';
import { exchange, OutboundRejected } from '../exchange/exchange.js';
import { tunnelConnector } from './tunnel-connector.js';
import { UrlGuard } from './url-guard.js';

const CERTIFICATE = createCertificate('traces.example');
const PUBLIC = '93.184.216.34';
const LIMITS = { timeout: 20_000, accountId: 'account' };

let proxy: ConnectProxy;
let proxyUrl: string;
let resolver: ScriptedResolver;
let guard: UrlGuard;
let server: Server;
let plain: PlainServer;
let port: number;
let plainPort: number;
beforeEach(async () => {
  proxy = await startConnectProxy({ userInfo: 'operator:s3cret' });
  proxyUrl = `http://operator:s3cret@127.0.0.1:${proxy.port}`;
  resolver = new ScriptedResolver().script('traces.example', [PUBLIC]).script('other.example', [PUBLIC]);
  guard = new UrlGuard(
    { destinationAllowedCidrs: ['10.1.0.0/16'] } as unknown as AppConfig,
    resolver,
    new TestClock(),
  );
  server = createServer(CERTIFICATE, (_request, response) => response.end('here'));
  plain = createPlainServer((_request, response) => response.end('plain'));
  for (const each of [server, plain]) await new Promise<void>((done) => each.listen(0, '127.0.0.1', done));
  ({ port } = server.address() as AddressInfo);
  ({ port: plainPort } = plain.address() as AddressInfo);
});
afterEach(async () => {
  await proxy.close();
  for (const each of [server, plain]) {
    each.closeAllConnections();
    each.close();
  }
});

async function get(host: string): Promise<string> {
  const pool = new ConnectionPool(tunnelConnector(guard, proxyUrl, { ca: CERTIFICATE.cert }));
  const signal = AbortSignal.timeout(20_000);
  try {
    const request = { method: 'GET', url: `https://${host}:${port}/traces`, headers: {} } as const;
    const { body } = await pool.use(`https://${host}:${port}`, signal, (connection) =>
      exchange(connection, request, 1_000, signal),
    );
    return body.toString();
  } finally {
    await pool.close();
  }
}

it('the tunnel ends at the checked address, and the proxy sees no content', async () => {
  expect(await get('traces.example')).toBe('here');
  expect(proxy.targets).toEqual([`${PUBLIC}:${port}`]);
  expect(resolver.asked).toEqual(['traces.example']);
  expect(proxy.passed()).not.toContain('/traces');
});

it('a certificate for another name is refused', async () => {
  await expect(get('other.example')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

describe('the guard', () => {
  it.each([
    ['a name that leads to a private address', 'inside.example', ['192.168.0.1']],
    ['a name of which one address is private', 'inside.example', [PUBLIC, '10.2.0.1']],
    ['a private address', '192.168.0.1', []],
    ['loopback', '127.0.0.1', []],
    ['the metadata address', '169.254.169.254', []],
  ])('refuses %s before the proxy is called', async (_what, host, addresses) => {
    resolver.script(host, addresses);
    const client = new DestinationClient(guard, proxyUrl);
    await expect(
      client.send({ method: 'GET', url: `https://${host}:${port}/`, headers: {} }, LIMITS),
    ).rejects.toBeInstanceOf(OutboundRejected);
    expect(proxy.targets).toEqual([]);
    await client.onApplicationShutdown();
  });

  it('permits opened ranges, also without TLS', async () => {
    resolver.script('collector.example', ['10.1.2.3']);
    const client = new DestinationClient(guard, proxyUrl);
    const request = { method: 'GET', url: `http://collector.example:${plainPort}/`, headers: {} } as const;
    expect((await client.send(request, LIMITS)).body.toString()).toBe('plain');
    expect(proxy.targets).toEqual([`10.1.2.3:${plainPort}`]);
    await client.onApplicationShutdown();
  });
});

it('a proxy that refuses fails the request, without its credentials in the error', async () => {
  proxyUrl = `http://operator:wr0ng@127.0.0.1:${proxy.port}`;
  await expect(get('traces.example')).rejects.toThrow('the proxy answered 407');
  await proxy.close();
  await expect(get('traces.example')).rejects.toThrow('no connection to the proxy: ECONNREFUSED');
});
