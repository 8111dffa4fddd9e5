// Exchanges with destinations: bounds of time and memory.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestClock } from '../../test/support/app/clock.js';
import { eventually } from '../../test/support/eventually.js';
import { ScriptedResolver } from '../../test/support/app/name-resolver.js';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type { RunningReceiver } from '../../test/support/receivers/receiver.js';
import type { AppConfig } from '../config/app-config.js';
import { DestinationClient } from './destination-client.js';
import { OutboundFailure, OutboundRejected, OutboundTimeout } from './exchange/exchange.js';
import type { OutboundRequest } from './exchange/exchange.js';
import { UrlGuard } from './connections/url-guard.js';

const OPENED = '127.0.0.1';
const LIMITS = { timeout: 20_000, accountId: 'account' };

let resolver: ScriptedResolver;
let client: DestinationClient;
beforeEach(() => {
  resolver = new ScriptedResolver();
  const config = { destinationAllowedCidrs: [`${OPENED}/32`] } as unknown as AppConfig;
  client = new DestinationClient(new UrlGuard(config, resolver, new TestClock()));
});
afterEach(() => client.onApplicationShutdown());

const get = (url: string): OutboundRequest => ({ method: 'GET', url, headers: {} });

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
    await expect(client.send(get(receiver.origin), { ...LIMITS, timeout: 1_000 })).rejects.toThrow(
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
      client.send(get(receiver.origin), { ...LIMITS, timeout: 6_000 }).catch((error: unknown) => error),
    );
    const waiting = client.send(get(receiver.origin), { ...LIMITS, timeout: 5_000 });
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
