// The limits of an exchange, whatever the work inside does with its signal.
import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { createConnection } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client } from 'undici';
import type { CancelSignal } from './cancellation.js';
import { exchange, OutboundFailure, OutboundTimeout, withinLimits } from './exchange.js';

/** Ends when its signal says so. */
const endless = (signal: CancelSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('limits', () => {
  it('end the work when the time is over', async () => {
    await expect(withinLimits({ timeout: 5 }, endless)).rejects.toThrow(OutboundTimeout);
  });

  it('end the work when the caller gives up, or has given up before', async () => {
    const controller = new AbortController();
    const given = withinLimits({ timeout: 60_000, signal: controller.signal }, endless);
    controller.abort();
    await expect(given).rejects.toMatchObject({ constructor: OutboundFailure });
    const late = withinLimits({ timeout: 60_000, signal: controller.signal }, endless);
    await expect(late).rejects.toMatchObject({ constructor: OutboundFailure });
  });

  it("leave nothing behind at a caller's signal, which any number of exchanges may have", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const { signal } = new AbortController();
    const enders: (() => void)[] = [];
    const exchanges = Array.from({ length: 50 }, () =>
      withinLimits({ timeout: 60_000, signal }, () => new Promise<void>((resolve) => enders.push(resolve))),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(50);
    for (const end of enders) end();
    await Promise.all(exchanges);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    // Warnings are told one tick later.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('keep the reason of a failure: the code of the system, or the message', async () => {
    const failing = (cause: Error) => withinLimits({ timeout: 60_000 }, () => Promise.reject(cause));
    await expect(
      failing(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
    ).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'ECONNREFUSED',
    });
    await expect(failing(new Error('odd'))).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'odd',
    });
    class Special extends OutboundFailure {}
    await expect(failing(new Special('as it is'))).rejects.toThrow(Special);
  });
});

describe('an exchange', () => {
  const requestTo = (url: string) => ({ method: 'POST', url, headers: {}, body: 'sent' }) as const;

  it('ends at once when it is given up while undici connects, and is never sent', async () => {
    const sent: string[] = [];
    const server = createServer((request, response) => {
      sent.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const waiting: (() => void)[] = [];
    let mayConnect = false;
    const client = new Client(origin, {
      connect: (_target, callback) => {
        const connect = (): void => {
          const socket = createConnection(port, '127.0.0.1', () => callback(null, socket));
        };
        if (mayConnect) connect();
        else waiting.push(connect);
      },
    });
    const controller = new AbortController();
    const givenUp = exchange(client, requestTo(`${origin}/given-up`), 1_000, controller.signal);
    const next = exchange(client, requestTo(`${origin}/next`), 1_000, new AbortController().signal);
    controller.abort();
    await expect(givenUp).rejects.toMatchObject({ name: 'AbortError' });
    mayConnect = true;
    for (const connect of waiting) connect();
    await expect(next).resolves.toMatchObject({ status: 200 });
    expect(sent).toEqual(['/next']);
    await client.close();
    server.close();
  });
});
