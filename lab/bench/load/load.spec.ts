// The load generator of the bench ends the run on any wrong answer. No test is timed.
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';

interface Job {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly string[];
  readonly checksVectors: boolean;
  readonly connections: number;
  /** Null: every body once. */
  readonly seconds: number | null;
}

/** Plain JavaScript without types, which the compiler must not look for. */
const importPlain = <Module>(path: string): Promise<Module> => import(path) as Promise<Module>;

const { runLoad } = await importPlain<{ runLoad: (job: Job) => Promise<{ readonly calls: number }> }>(
  './load.mjs',
);
const { callBodies, upstreamAnswer } = await importPlain<{
  callBodies: (call: { inputs: number; format: string; dimensions: number }, model: string) => string[];
  upstreamAnswer: (body: string) => Buffer;
}>('./known-vectors.mjs');
const { MessageReader } = await importPlain<{
  MessageReader: new (onMessage: (head: string, length: number, body: Buffer | null) => void) => {
    keepsBody: boolean;
    feed(bytes: Buffer): void;
  };
}>('./message-reader.mjs');

type Respond = (response: ServerResponse, answer: string, body: string) => void;

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function loadAgainst(respond: Respond, format: string): Promise<{ readonly calls: number }> {
  const listening = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => respond(response, answerTo(body), body));
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return runLoad({
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1/embeddings`,
    method: 'POST',
    status: 200,
    headers: {},
    bodies: callBodies({ inputs: 1, format, dimensions: 8 }, 'a-model'),
    checksVectors: true,
    connections: 3,
    seconds: null,
  });
}

const answerTo = (body: string): string => upstreamAnswer(body).toString('latin1').split('\r\n\r\n')[1] ?? '';

/** The vector of input 9 instead of its own. */
const swapped = (body: string): string => answerTo(body.replace(/number \d+"/, 'number 9"'));

describe.each(['base64', 'float'])('the load, %s', (format) => {
  it('counts correct answers', async () => {
    expect(await loadAgainst((response, answer) => response.end(answer), format)).toMatchObject({
      calls: 256,
    });
  });

  it('reads answers that arrive in chunks', async () => {
    const inChunks: Respond = (response, answer) => {
      response.write(answer.slice(0, 20));
      response.end(answer.slice(20));
    };
    expect(await loadAgainst(inChunks, format)).toMatchObject({ calls: 256 });
  });

  it.each<[string, Respond, RegExp]>([
    ["another input's vector", (response, _, body) => response.end(swapped(body)), /another vector/],
    ['a status', (response, answer) => response.writeHead(503).end(answer), /503/],
    ['half an answer', (response, answer) => response.end(answer.slice(0, -30)), /JSON/],
    ['a lost connection', (response) => response.socket?.destroy(), /closed|ECONNRESET/],
  ])('ends with %s', async (_, respond, reason) => {
    await expect(loadAgainst(respond, format)).rejects.toThrow(reason);
  });
});

describe('the reader of messages', () => {
  const LENGTHS = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
  const CHUNKS =
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na\r\n, everyone\r\n0\r\n\r\n';
  const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n';
  const bytes = Buffer.from(LENGTHS + CHUNKS + EMPTY + LENGTHS);

  it.each([1, 2, 3, 7, 19, 44, 1_000])('reads %i bytes at a time', (size) => {
    const bodies: (string | undefined)[] = [];
    const lengths: number[] = [];
    const reader = new MessageReader((_, length, body) => {
      lengths.push(length);
      bodies.push(body?.toString());
    });
    reader.keepsBody = true;
    for (let at = 0; at < bytes.length; at += size) reader.feed(bytes.subarray(at, at + size));
    expect(bodies).toEqual(['hello', 'hello, everyone', '', 'hello']);
    expect(lengths).toEqual([5, 15, 0, 5]);
  });
});
