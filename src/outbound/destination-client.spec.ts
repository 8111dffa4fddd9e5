// Connections of requests to destinations: permitted addresses, and bounds of time and memory.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestClock } from '../../test/support/clock.js';
import { eventually } from '../../test/support/eventually.js';
import { ScriptedResolver } from '../../test/support/name-resolver.js';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type { RunningReceiver } from '../../test/support/receivers/receiver.js';
import type { AppConfig } from '../config/app-config.js';
import { DestinationClient } from './destination-client.js';
import { OutboundFailure, OutboundRejected, OutboundTimeout } from './exchange.js';
import type { OutboundRequest } from './exchange.js';
import { UrlGuard } from './url-guard.js';

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
  });

  it('is used without a look-up when it is permitted', async () => {
    await client.send(get(`http://${OPENED}:${port}/`), LIMITS);
    expect(arrivals).toEqual([OPENED]);
    expect(resolver.asked).toEqual([]);
  });

  it('is checked again when a name changes between check and connection', async () => {
    resolver.script('host.example', [PUBLIC], [FORBIDDEN]);
    expect(await guard.check(`https://host.example:${port}/`)).toBeNull();
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

describe('the exchange', () => {
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver({
      check: () => ({ reply: { status: 200, body: { ok: true } }, stored: [] }),
    });
  });
  beforeEach(() => receiver.forget());
  afterAll(() => receiver.close());

  it('sends method, path, headers and body, and returns the response', async () => {
    receiver.script({ status: 207, headers: { 'x-kind': 'test' }, body: 'partly' });
    const response = await client.send(
      {
        method: 'PUT',
        url: `${receiver.origin}/v1/traces?key=1#part`,
        headers: { 'x-team': 'a' },
        body: 'traces',
      },
      LIMITS,
    );
    expect(response).toMatchObject({
      status: 207,
      headers: { 'x-kind': 'test' },
      body: Buffer.from('partly'),
    });
    expect(receiver.requests).toMatchObject([
      { method: 'PUT', path: '/v1/traces?key=1', headers: { 'x-team': 'a' }, bytes: Buffer.from('traces') },
    ]);
  });

  it.each([301, 302, 303, 307, 308])('returns a redirect with %i instead of following it', async (status) => {
    receiver.script({ status, headers: { location: `${receiver.origin}/elsewhere` } });
    const response = await client.send(get(receiver.origin), LIMITS);
    expect(response).toMatchObject({ status, headers: { location: `${receiver.origin}/elsewhere` } });
    expect(receiver.requests).toHaveLength(1);
  });

  it('returns the beginning of a success beyond 1 MiB, or without an end', async () => {
    const answerOf = (length: number) => ({ status: 202, body: 'x'.repeat(length) });
    receiver.script(answerOf(1_048_576), answerOf(1_048_577), 'flood', answerOf(11));
    for (const status of [202, 202, 200]) {
      const response = await client.send(get(receiver.origin), LIMITS);
      expect([response.status, response.body.length]).toEqual([status, 1_048_576]);
    }
    const { body } = await client.send(get(receiver.origin), { ...LIMITS, maxResponseBytes: 10 });
    expect(body.toString()).toBe('x'.repeat(10));
    // The rest of the answer does not reach the next exchanges.
    const next = await Promise.all([1, 2, 3].map(() => client.send(get(receiver.origin), LIMITS)));
    expect(next.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('keeps a success beyond the limit from disturbing exchanges that wait for its connection', async () => {
    receiver.always({ status: 200, body: 'x'.repeat(100_000) });
    const sent = Array.from({ length: 300 }, () =>
      client.send(get(receiver.origin), { ...LIMITS, maxResponseBytes: 10 }),
    );
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    receiver.always(null);
  });

  it('fails on any other response beyond the limit', async () => {
    receiver.script({ status: 400, body: 'x'.repeat(1_048_577) }, { status: 302, body: 'x'.repeat(11) });
    const tooLarge = new OutboundFailure('the answer is larger than 1048576 bytes');
    await expect(client.send(get(receiver.origin), LIMITS)).rejects.toThrow(tooLarge);
    await expect(client.send(get(receiver.origin), { ...LIMITS, maxResponseBytes: 10 })).rejects.toThrow(
      'the answer is larger than 10 bytes',
    );
  });

  it.each(['reset', 'truncate'] as const)('fails on %s, and the next exchange succeeds', async (script) => {
    receiver.script(script);
    await expect(client.send(get(receiver.origin), LIMITS)).rejects.toThrow(OutboundFailure);
    expect((await client.send(get(receiver.origin), LIMITS)).status).toBe(200);
  });

  it('times out without a response', async () => {
    receiver.script('hang');
    await expect(client.send(get(receiver.origin), { ...LIMITS, timeout: 50 })).rejects.toThrow(
      OutboundTimeout,
    );
    expect(receiver.requests).toHaveLength(1);
  });

  it('times out when a response does not end', async () => {
    const endless = createServer((_request, response) => void response.writeHead(200).write('a part'));
    await new Promise<void>((resolve) => endless.listen(0, OPENED, resolve));
    const { port } = endless.address() as AddressInfo;
    await expect(client.send(get(`http://${OPENED}:${port}`), { ...LIMITS, timeout: 50 })).rejects.toThrow(
      OutboundTimeout,
    );
    endless.closeAllConnections();
    endless.close();
  });

  it('excludes the wait for other exchanges of the account from the time-out', async () => {
    receiver.always('hang');
    // Their time-out ends later than that of the exchange that waits for them.
    const hanging = Array.from({ length: 96 }, () =>
      client.send(get(receiver.origin), { ...LIMITS, timeout: 1_600 }).catch((error: unknown) => error),
    );
    const waiting = client.send(get(receiver.origin), { ...LIMITS, timeout: 1_500 });
    await eventually(
      () => Promise.resolve(receiver.requests.length),
      (count) => count === 96,
    );
    receiver.always(null);
    expect((await waiting).status).toBe(200);
    for (const ended of await Promise.all(hanging)) expect(ended).toBeInstanceOf(OutboundTimeout);
  });

  it('does not wait for exchanges of another account', async () => {
    const controller = new AbortController();
    receiver.always('hang');
    const hanging = Array.from({ length: 200 }, () =>
      client.send(get(receiver.origin), { ...LIMITS, signal: controller.signal }).catch(() => 'given up'),
    );
    await eventually(
      () => Promise.resolve(receiver.requests.length),
      (count) => count === 96,
    );
    receiver.always(null);
    expect((await client.send(get(receiver.origin), { ...LIMITS, accountId: 'other' })).status).toBe(200);
    controller.abort();
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['given up']));
  });

  it('times out without an answer from DNS', async () => {
    resolver.script('host.example', 'hang');
    await expect(client.send(get('https://host.example/'), { ...LIMITS, timeout: 50 })).rejects.toThrow(
      OutboundTimeout,
    );
    expect(resolver.asked).toEqual(['host.example']);
  });

  it('reports the reason when a name does not resolve', async () => {
    await expect(client.send(get('https://unknown.example/'), LIMITS)).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'ENOTFOUND',
    });
  });

  it('can be cancelled by the caller before and during the exchange', async () => {
    await expect(
      client.send(get(receiver.origin), { ...LIMITS, signal: AbortSignal.abort() }),
    ).rejects.toThrow(OutboundFailure);
    expect(receiver.requests).toHaveLength(0);
    resolver.script('host.example', 'hang');
    const controller = new AbortController();
    const sent = client.send(get('https://host.example/'), { ...LIMITS, signal: controller.signal });
    controller.abort();
    await expect(sent).rejects.toThrow(OutboundFailure);
    await expect(sent).rejects.not.toBeInstanceOf(OutboundTimeout);
  });

  it.each([
    ['x-a', 's3cret\r\nx-b: 1', 'not sent: invalid x-a header'],
    ['upgrade', 's3cret', 'not sent: invalid upgrade header'],
    ['expect', '100-continue', 'not sent: expect header not supported'],
  ])('rejects the header %s, which cannot be sent, without repeating it', async (name, value, message) => {
    const sent = client.send({ ...get(receiver.origin), headers: { [name]: value } }, LIMITS);
    await expect(sent).rejects.toMatchObject({ constructor: OutboundRejected, message });
    expect(receiver.requests).toHaveLength(0);
  });
});
