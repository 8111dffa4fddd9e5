// A hostile provider and a hostile platform for the service under test: some answers are right, the others are cut,
// corrupted, mislabelled, endless, or repeat the credential.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { messagesEvent, RICH_EVENTS, WHOLE_MESSAGE } from '../messages/messages-stub.js';
import { patternVector, sendJson, toBase64 } from '../upstreams/stub-upstream.js';
import { seededRandom } from './budget.js';

export interface HostileServers {
  readonly providerUrl: string;
  readonly hookUrl: string;
  close(): Promise<void>;
}

interface EmbeddingCall {
  readonly input?: unknown;
  readonly dimensions?: number;
  readonly encoding_format?: string;
}

type Misbehaviour = (response: ServerResponse, right: string, credential: string) => void;

/** Streams of chats, by what they write. */
const STREAMS: readonly ((
  response: ServerResponse,
  events: readonly string[],
  random: () => number,
) => void)[] = [
  (response, events) => response.end(events.join('')),
  (response, events) => response.end(events.slice(0, -2).join('')),
  (response, events) => response.end(events.slice(0, 2).join('').slice(0, -9)),
  (response, events) => response.end(`${events.slice(0, 2).join('')}data: {"error":{"code":503}}\n\n`),
  (response) => response.end('data: {"error":{"code":400,"message":"no"},"choices":[]}\n\n'),
  (response, events, random) => response.end(events.toSorted(() => random() - 0.5).join('')),
  (response, events) => response.end(events.join('').replaceAll('"content":', '"content":[{"a":1}],"x":')),
  (response, events) => response.end(events.join('').replaceAll(/\d+/g, '-1e999')),
  (response) => response.end(`data: ${'['.repeat(5_000)}\n\n`),
  (response) => response.end(Buffer.from('data: \xff\xfe\n\ndata: [DONE]\n\n', 'latin1')),
  (response, events) => {
    response.write(events.slice(0, 3).join(''));
    response.destroy();
  },
  (response) => response.write(Buffer.concat([Buffer.from('data: {"x":"'), FLOOD]), () => response.destroy()),
];

// Bytes that a small compressed body becomes.
const BOMB = gzipSync(Buffer.alloc(64 * 2 ** 20, ' '));
const FLOOD = Buffer.alloc(2 ** 20, '[');

const as = (response: ServerResponse, status: number, type: string, body: string | Buffer): void => {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
};
const MISBEHAVIOURS: readonly Misbehaviour[] = [
  (response) => as(response, 200, 'application/json', ''),
  (response) => as(response, 200, 'text/html', '<html><body>It works!</body></html>'),
  (response, right) => as(response, 200, 'application/json', right.slice(0, -20)),
  (response, right) =>
    as(response, 200, 'application/json', right.replace('[0.', '[NaN,0.').replace('0,', 'null,')),
  (response, right) => as(response, 200, 'application/json', right.replace(/0\.?0*,/, '1e999,')),
  (response, right) => as(response, 200, 'application/json', right.replace(/,0(?=[\],])/, '')),
  (response, right) => as(response, 200, 'application/json', `${right}${right}`),
  (response, right) =>
    as(response, 200, 'application/json', right.replace('"data":[', '"data":[{"index":0},')),
  (response, right) => as(response, 200, 'application/json', right.replaceAll('"index":0', '"index":7')),
  (response) => as(response, 200, 'application/json', '{"data":'.repeat(5_000)),
  (response) => as(response, 200, 'application/json', '{"__proto__":{"data":[]},"data":{"length":1}}'),
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(BOMB);
  },
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(FLOOD);
    response.destroy();
  },
  (response) => response.destroy(),
  (response, _right, credential) => sendJson(response, 401, { error: { message: `no: ${credential}` } }),
  (response, _right, credential) =>
    sendJson(response, 400, `refused ${credential} \r\n\u001b[31m at Object.<x>`),
  (response) => sendJson(response, 429, { error: 'slow down' }, { 'retry-after': '0' }),
  (response) => sendJson(response, 503, 'x'.repeat(100_000)),
  (response) => sendJson(response, 302, '', { location: 'http://169.254.169.254/' }),
  (response) => as(response, 200, 'application/json', Buffer.from([0xff, 0xfe, 0x00, 0x7b])),
  (response) => as(response, 599, '\u00ff', ''),
];
// Most answers are right: otherwise the endpoint would be left alone as one that is out.
const WRONG = 0.35;
// The share of streams in answers to streamed chats.
const STREAMED = 0.85;

export async function startHostileServers(): Promise<HostileServers> {
  const random = seededRandom();
  const answer = (response: ServerResponse, right: string, credential: string): void => {
    const misbehaviour = MISBEHAVIOURS[Math.floor(random() * MISBEHAVIOURS.length)];
    if (misbehaviour && random() < WRONG) misbehaviour(response, right, credential);
    else as(response, 200, 'application/json', right);
  };
  const stream = (response: ServerResponse, right: readonly string[]): void => {
    const isWrong = random() < WRONG;
    const write = STREAMS[isWrong ? Math.floor(random() * STREAMS.length) : 0];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write?.(response, right, random);
  };
  const provider = createServer((request, response) => {
    const respond = (text: string): void => {
      const { url = '', headers } = request;
      const isChat = url.endsWith('/chat/completions');
      const isMessage = url.endsWith('/messages');
      const isStream = (isChat || isMessage) && /"stream":true/.test(text);
      const right = isMessage ? rightMessage() : isChat ? rightChat() : rightAnswer(text);
      if (isStream && random() < STREAMED) stream(response, isMessage ? rightEvents() : rightStream());
      else answer(response, right, String(headers['x-api-key'] ?? headers.authorization));
    };
    void read(request).then(respond);
  });
  const hook = createServer((request, response) => {
    void read(request).then(() => answer(response, '{}', JSON.stringify(request.headers)));
  });
  await Promise.all([provider, hook].map(listen));
  return {
    providerUrl: `${originOf(provider)}/v1`,
    hookUrl: `${originOf(hook)}/traces`,
    close: async () => {
      for (const server of [provider, hook]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

const rightMessage = (): string => JSON.stringify(WHOLE_MESSAGE);
const rightEvents = (): string[] => RICH_EVENTS.map(messagesEvent);

const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function rightAnswer(text: string): string {
  const call = JSON.parse(text === '' ? '{}' : text) as EmbeddingCall;
  const { input, dimensions: width = 1536, encoding_format: format } = call;
  const inputs: unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  return JSON.stringify({
    object: 'list',
    data: inputs.map((_one, index) => {
      const vector = patternVector(index, width);
      return { object: 'embedding', index, embedding: format === 'base64' ? toBase64(vector) : vector };
    }),
    usage: { prompt_tokens: inputs.length, total_tokens: inputs.length },
  });
}

const CHAT = { id: 'up-1', created: 1_790_000_000, model: 'm' };
const CHAT_USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function rightChat(): string {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  return JSON.stringify({ ...CHAT, object: 'chat.completion', choices, usage: CHAT_USAGE });
}

function rightStream(): string[] {
  const chunk = (delta: object, finish: string | null = null, others: object = {}): string => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return `data: ${JSON.stringify({ ...CHAT, object: 'chat.completion.chunk', choices, ...others })}\n\n`;
  };
  return [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({}, 'stop'),
    chunk({}, null, { choices: [], usage: CHAT_USAGE }),
    'data: [DONE]\n\n',
  ];
}
