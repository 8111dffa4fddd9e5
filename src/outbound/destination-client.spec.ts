// Connections of requests to destinations: permitted addresses.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestClock } from '../../test/support/app/clock.js';
import { ScriptedResolver } from '../../test/support/app/name-resolver.js';
import type { AppConfig } from '../config/app-config.js';
import { DestinationClient } from './destination-client.js';
import { OutboundFailure, OutboundRejected } from './exchange/exchange.js';
import type { OutboundRequest } from './exchange/exchange.js';
import { UrlGuard } from './connections/url-guard.js';

const PUBLIC = '93.184.216.34';
const OPENED = '127.0.0.1';
// Not allowed, although the server below listens there as well.
const FORBIDDEN = '127.0.0.2';
const LIMITS = { timeout: 20_000, accountId: 'account' };

let resolver: ScriptedResolver;
let guard: UrlGuard;
let client: DestinationClient;
beforeEach(() => {
  resolver = new ScriptedResolver();
  const config = { destinationAllowedCidrs: [`${OPENED}/32`] } as unknown as AppConfig;
  guard = new UrlGuard(config, resolver, new TestClock());
  client = new DestinationClient(guard);
});
afterEach(() => client.onApplicationShutdown());

const get = (url: string): OutboundRequest => ({ method: 'GET', url, headers: {} });

describe('the address of a connection', () => {
  /** The addresses under which connections arrived. */
  const arrivals: (string | undefined)[] = [];
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((_request, response) => response.end('here'));
    // A busy machine may take longer than five seconds from test to test.
    server.keepAliveTimeout = 0;
    server.on('connection', (socket) => arrivals.push(socket.localAddress));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => {
    arrivals.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is one of the permitted addresses of the name', async () => {
    resolver.script('host.example', [OPENED]);
    const response = await client.send(get(`http://host.example:${port}/`), LIMITS);
    expect([response.status, response.body.toString()]).toEqual([200, 'here']);
    expect(arrivals).toEqual([OPENED]);
    expect(resolver.asked).toEqual(['host.example']);
    expect(resolver.accounts).toEqual([LIMITS.accountId]);
  });

  it('is used without a look-up when it is permitted', async () => {
    await client.send(get(`http://${OPENED}:${port}/`), LIMITS);
    expect(arrivals).toEqual([OPENED]);
    expect(resolver.asked).toEqual([]);
  });

  it('is checked again when a name changes between check and connection', async () => {
    resolver.script('host.example', [PUBLIC], [FORBIDDEN]);
    expect(await guard.check(`https://host.example:${port}/`, 'account')).toBeNull();
    await expect(client.send(get(`https://host.example:${port}/`), LIMITS)).rejects.toThrow(
      new OutboundRejected('host.example leads to a loopback address'),
    );
    expect(arrivals).toEqual([]);
  });

  it('is looked up once per connection', async () => {
    resolver.script('host.example', [OPENED], [FORBIDDEN], [FORBIDDEN]);
    await client.send(get(`http://host.example:${port}/`), LIMITS);
    expect(arrivals).toEqual([OPENED]);
    expect(resolver.asked).toHaveLength(1);
  });

  it.each([
    [[OPENED, FORBIDDEN]],
    [[FORBIDDEN, OPENED]],
    [[OPENED, '0.0.0.0']],
    [[OPENED, `::ffff:${FORBIDDEN}`]],
    [[OPENED, '::1']],
    [[OPENED, '169.254.169.254']],
    [[FORBIDDEN]],
  ])('is rejected for a name that resolves to %j', async (addresses) => {
    resolver.script('host.example', addresses);
    await expect(client.send(get(`http://host.example:${port}/`), LIMITS)).rejects.toThrow(OutboundRejected);
    expect(arrivals).toEqual([]);
  });

  it.each([FORBIDDEN, '2130706434', '0x7f.2', '0', '[::ffff:127.0.0.2]', '[::1]', '[::]'])(
    'is rejected when it is %s',
    async (host) => {
      for (const scheme of ['http', 'https']) {
        await expect(client.send(get(`${scheme}://${host}:${port}/`), LIMITS)).rejects.toThrow(
          OutboundRejected,
        );
      }
      expect(arrivals).toEqual([]);
    },
  );

  it('stays in use for a kept connection; the next connection is checked against the current addresses', async () => {
    resolver.script('host.example', [OPENED], [FORBIDDEN]);
    const request = get(`http://host.example:${port}/`);
    await client.send(request, LIMITS);
    await client.send(request, LIMITS);
    expect(arrivals).toEqual([OPENED]);
    server.closeAllConnections();
    // The sockets decide whether the first request after it uses the old connection or a new one.
    await expect(client.send(request, LIMITS)).rejects.toThrow(OutboundFailure);
    await expect(client.send(request, LIMITS)).rejects.toThrow(OutboundRejected);
    expect(arrivals).toEqual([OPENED]);
  });

  it.each(['https:///v1/traces', 'ftp://host.example/', 'host.example', 'https://user:s3cret@host.example/'])(
    'is not resolved for the URL %s',
    async (url) => {
      const sent = client.send(get(url), LIMITS);
      await expect(sent).rejects.toThrow(OutboundRejected);
      await expect(sent).rejects.not.toThrow('s3cret');
      expect(resolver.asked).toEqual([]);
    },
  );

  it('is not that of a proxy from the environment', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' });
    try {
      await client.send(get(`http://${OPENED}:${port}/`), LIMITS);
      expect(arrivals).toEqual([OPENED]);
    } finally {
      process.env = before;
    }
  });
});
