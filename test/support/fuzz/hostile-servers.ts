// A hostile provider and a hostile platform for the service under test: some answers are right, the others are cut,
// corrupted, mislabelled, endless, or repeat the credential.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { patternVector, sendJson, toBase64 } from '../stub-upstream.js';
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

export async function startHostileServers(): Promise<HostileServers> {
  const random = seededRandom();
  const answer = (response: ServerResponse, right: string, credential: string): void => {
    const misbehaviour = MISBEHAVIOURS[Math.floor(random() * MISBEHAVIOURS.length)];
    if (misbehaviour && random() < WRONG) misbehaviour(response, right, credential);
    else as(response, 200, 'application/json', right);
  };
  const provider = createServer((request, response) => {
    void read(request).then((text) =>
      answer(response, rightAnswer(text), String(request.headers.authorization)),
    );
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
