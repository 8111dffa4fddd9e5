// Exchanges whose answers are read as they come.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'undici';
import { Cancellation } from '../../concurrency/cancellation.js';
import { OutboundFailure } from './exchange.js';
import { openStream, readBeginning } from './streamed-exchange.js';
import type { OutboundStream } from './streamed-exchange.js';

let server: Server;
let client: Client;
let answer: (response: ServerResponse, body: string) => void;
let closed: Promise<void>;
let origin: string;
beforeEach(async () => {
  server = createServer((request, response) => {
    closed = new Promise((resolve) => response.once('close', resolve));
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => answer(response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new Client(origin);
});
afterEach(async () => {
  await client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const MOST = 1_048_576;
const open = (body = '{}', signal = new Cancellation()): Promise<OutboundStream> =>
  openStream(client, { method: 'POST', url: `${origin}/chat`, headers: {}, body }, MOST, signal);

/** The text of a stream, and its end. */
function read(stream: OutboundStream): Promise<{ readonly text: string; readonly error: Error | null }> {
  let text = '';
  return new Promise((resolve) =>
    stream.listen({
      onChunk: (bytes) => (text += bytes.toString()),
      onEnd: () => resolve({ text, error: null }),
      onError: (error) => resolve({ text, error }),
    }),
  );
}

describe('a streamed exchange', () => {
  it('resolves with the headers, before the body has come', async () => {
    let finish = (): void => undefined;
    answer = (response) => {
      response.writeHead(201, { 'x-of-provider': 'yes' }).write('one ');
      finish = () => void response.end('two');
    };
    const stream = await open();
    expect(stream).toMatchObject({ status: 201, headers: { 'x-of-provider': 'yes' } });
    const reading = read(stream);
    finish();
    expect(await reading).toEqual({ text: 'one two', error: null });
  });

  it('sends a large body whole, with its length', async () => {
    const large = 'x'.repeat(200_000);
    answer = (response, body) =>
      void response.end(`${response.req.headers['content-length']}:${body.length}`);
    expect(await read(await open(large))).toEqual({ text: '200000:200000', error: null });
  });

  it('ends with a failure when the connection is lost in the middle', async () => {
    answer = (response) => {
      response.write('one', () => response.destroy());
    };
    const { text, error } = await read(await open());
    expect(text).toBe('one');
    expect(error).toBeInstanceOf(OutboundFailure);
  });

  it('rejects when it is cancelled before its headers, and closes the connection', async () => {
    const signal = new Cancellation();
    answer = () => signal.abort();
    await expect(open('{}', signal)).rejects.toThrow('This operation was aborted');
    await closed;
  });

  it('calls no listener after abort(), and closes the connection', async () => {
    answer = (response) => void response.write('one');
    const stream = await open();
    const heard: string[] = [];
    await new Promise<void>((resolve) =>
      stream.listen({
        onChunk: () => {
          heard.push('chunk');
          stream.abort();
          resolve();
        },
        onEnd: () => heard.push('end'),
        onError: () => heard.push('error'),
      }),
    );
    await closed;
    expect(heard).toEqual(['chunk']);
  });

  it('pauses the other side until it resumes', async () => {
    const total = 32 * MOST;
    let sent = 0;
    answer = (response) => {
      const piece = Buffer.alloc(MOST);
      const send = (): void => {
        while (sent < total) {
          sent += MOST;
          if (!response.write(piece)) {
            response.once('drain', send);
            return;
          }
        }
        response.end();
      };
      send();
    };
    const stream = await openStream(
      client,
      { method: 'POST', url: `${origin}/chat`, headers: {}, body: '{}' },
      2 * total,
      new Cancellation(),
    );
    let received = 0;
    await new Promise<void>((resolve) =>
      stream.listen({
        onChunk: (bytes) => {
          if (received === 0) {
            stream.pause();
            setImmediate(() => {
              expect(sent).toBeLessThan(total);
              stream.resume();
            });
          }
          received += bytes.length;
        },
        onEnd: resolve,
        onError: () => resolve(),
      }),
    );
    expect(received).toBe(total);
  });
});

it('the beginning of an answer is read up to its bound, and the rest is not', async () => {
  answer = (response) => void response.writeHead(500).write('x'.repeat(50_000));
  const signal = new Cancellation();
  const { status, body } = await readBeginning(await open('{}', signal), 1_000, signal);
  expect({ status, length: body.length }).toEqual({ status: 500, length: 1_000 });
  await closed;
});
