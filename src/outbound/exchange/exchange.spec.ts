// The limits of an exchange, for any use of its signal, and the body of its answer.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { createConnection, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import type { CancelSignal } from '../../concurrency/cancellation.js';
import { exchange, OutboundFailure, OutboundTimeout, withinLimits } from './exchange.js';

/** Ends with its signal. */
const endless = (signal: CancelSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('limits', () => {
  it('end the work after the time-out', async () => {
    await expect(withinLimits({ timeout: 5 }, endless)).rejects.toThrow(OutboundTimeout);
  });

  it('end the work when the caller cancels, or has cancelled before', async () => {
    const controller = new AbortController();
    const given = withinLimits({ timeout: 60_000, signal: controller.signal }, endless);
    controller.abort();
    await expect(given).rejects.toMatchObject({ constructor: OutboundFailure });
    const late = withinLimits({ timeout: 60_000, signal: controller.signal }, endless);
    await expect(late).rejects.toMatchObject({ constructor: OutboundFailure });
  });

  it("leave no listener on a caller's signal, which any number of exchanges may share", async () => {
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
    // Node emits warnings one tick later.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it("keep the reason of a failure: the system's code, or the message", async () => {
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

  it('ends at once when it is cancelled while undici connects, and is never sent', async () => {
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

describe('an answer that begins with 100 Continue', () => {
  it('fails with an explanation', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new Client(url);
    const request = { method: 'POST', url: `${url}/`, headers: {}, body: 'sent' } as const;
    const answered = withinLimits({ timeout: 20_000 }, (signal) => exchange(client, request, 1_000, signal));
    await expect(answered).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'the answer began with 100 Continue, which was not requested',
    });
    await client.destroy();
    server.close();
  });
});

describe('the body of an answer', () => {
  const LIMIT = 1_000;
  const bytes = Buffer.from(Array.from({ length: LIMIT + 1 }, (_nothing, index) => index % 251));

  afterEach(() => void jest.restoreAllMocks());

  /** An answer of `length` bytes in chunks of `chunkLength`, with these headers. */
  function answer(length: number, chunkLength: number, headers: Record<string, string | string[]> = {}) {
    const dispatch: Dispatcher['dispatch'] = (_options, handler) => {
      const connection = new AbortController();
      const controller = connection as unknown as Dispatcher.DispatchController;
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 200, headers);
      for (let at = 0; at < length && !connection.signal.aborted; at += chunkLength) {
        const chunk = Buffer.from(bytes.subarray(at, Math.min(at + chunkLength, length)));
        handler.onResponseData?.(controller, chunk);
      }
      if (!connection.signal.aborted) handler.onResponseEnd?.(controller, {});
      return true;
    };
    const request = { method: 'GET', url: 'http://127.0.0.1/', headers: {} } as const;
    return exchange({ dispatch } as Dispatcher, request, LIMIT, new AbortController().signal);
  }

  it.each([1, 7, 999, 1_000])('is the bytes that came in chunks of %d, announced or not', async (chunk) => {
    for (const headers of [{}, { 'content-length': '1000' }]) {
      const { body } = await answer(1_000, chunk, headers);
      expect(body.equals(bytes.subarray(0, 1_000))).toBe(true);
    }
  });

  it('is empty when no bytes came, whatever length was announced', async () => {
    const made = jest.spyOn(Buffer, 'allocUnsafeSlow');
    for (const announced of ['0', '1000', '999999999999']) {
      await expect(answer(0, 1, { 'content-length': announced })).resolves.toMatchObject({
        body: Buffer.alloc(0),
      });
    }
    expect(made).not.toHaveBeenCalled();
  });

  it.each(['1001', '999999999999', '1e400', '-5', '3', 'many', ''])(
    'needs no more memory than the received bytes when %j bytes are announced',
    async (announced) => {
      const made = jest.spyOn(Buffer, 'allocUnsafeSlow');
      const { body } = await answer(1_000, 10, { 'content-length': announced });
      expect(body.equals(bytes.subarray(0, 1_000))).toBe(true);
      expect(made).not.toHaveBeenCalled();
    },
  );

  it('is not allocated before half of the announced bytes have come', async () => {
    const made = jest.spyOn(Buffer, 'allocUnsafeSlow');
    const { body } = await answer(400, 100, { 'content-length': '1000' });
    expect(body.equals(bytes.subarray(0, 400))).toBe(true);
    expect(made).not.toHaveBeenCalled();
    await answer(500, 100, { 'content-length': '1000' });
    expect(made).toHaveBeenCalledTimes(1);
    expect(made).toHaveBeenCalledWith(1_000);
  });

  it('has only the received bytes when more were announced, and no stale memory', async () => {
    const { body } = await answer(500, 100, { 'content-length': '900' });
    expect(body.equals(bytes.subarray(0, 500))).toBe(true);
  });

  it('is rejected when more bytes arrive than announced', async () => {
    await expect(answer(500, 100, { 'content-length': '450' })).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'the answer is longer than its content-length',
    });
  });

  it.each([undefined, '10', '1000', '1001'])(
    'is rejected beyond the limit, when %j is announced',
    async (announced) => {
      const headers = announced === undefined ? {} : { 'content-length': announced };
      const rejected = answer(1_001, 1_001, headers);
      await expect(rejected).rejects.toThrow('the answer is larger than 1000 bytes');
    },
  );

  it.each([
    [300_000, 'is a failure'],
    [100_000, 'is what was announced'],
  ])('%d bytes announced and 200,000 sent: %s', async (announced, outcome) => {
    const sent = Buffer.alloc(200_000, bytes);
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${announced}\r\n\r\n`);
      socket.end(sent);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new Client(url);
    const request = { method: 'GET', url: `${url}/`, headers: {} } as const;
    const answered = exchange(client, request, 1_000_000, new AbortController().signal);
    if (outcome === 'is a failure') await expect(answered).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    else expect((await answered).body.equals(sent.subarray(0, announced))).toBe(true);
    await client.destroy();
    server.close();
  });
});
