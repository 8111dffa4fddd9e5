// A vendor's embeddings API on loopback: answers what a test scripts, keeps what it was sent, and refuses what the real
// one would refuse.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { listenLocally } from './local-server.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly text: string;
}

export type StubHandler = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface StubUpstream {
  readonly origin: string;
  readonly requests: ReceivedRequest[];
  /** Sets the answer to the next calls; null: back to the default. */
  answerWith(handler: StubHandler | null): void;
  close(): Promise<void>;
}

export async function startStubUpstream(
  defaultHandler: StubHandler = answerLikeOpenAi,
): Promise<StubUpstream> {
  const requests: ReceivedRequest[] = [];
  let handler = defaultHandler;
  const server = createServer((incoming, response) => {
    void (async () => {
      const request = await receive(incoming);
      requests.push(request);
      await handler(request, response);
    })();
  });
  const local = await listenLocally(server);
  return {
    ...local,
    requests,
    answerWith: (next) => {
      handler = next ?? defaultHandler;
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const NATIVE_WIDTHS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
};
const OPENAI_MEMBERS = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);

/** Vectors of a fixed pattern, so that a test can tell which input a vector belongs to: [k, 0, 0, ...], k from 1. */
export function patternVector(position: number, width: number): number[] {
  return Array.from({ length: width }, (_value, index) => (index === 0 ? position + 1 : 0));
}

export function toBase64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString('base64');
}

/** OpenAI's own behaviour: its authentication, members, limits and base64. Source: its OpenAPI document. */
export function answerLikeOpenAi(request: ReceivedRequest, response: ServerResponse): void {
  const { model, input, encoding_format: format = 'float', dimensions } = request.body;
  const reject = (status: number, message: string, code: string) =>
    sendJson(response, status, { error: { message, type: 'invalid_request_error', param: null, code } });
  const listsModels = request.method === 'GET' && request.path === '/v1/models';
  if (!listsModels && (request.method !== 'POST' || request.path !== '/v1/embeddings'))
    return reject(404, 'Unknown path', 'unknown_url');
  if (request.headers.authorization !== 'Bearer upstream-key') {
    return reject(401, 'Incorrect API key provided: upst****-key', 'invalid_api_key');
  }
  if (listsModels) {
    const data = Object.keys(NATIVE_WIDTHS).map((id) => ({ id, object: 'model', owned_by: 'openai' }));
    return sendJson(response, 200, { object: 'list', data });
  }
  const unknown = Object.keys(request.body).find((name) => !OPENAI_MEMBERS.has(name));
  if (unknown !== undefined)
    return reject(400, `Unrecognized request argument supplied: ${unknown}`, 'unknown_argument');
  const native = NATIVE_WIDTHS[String(model)];
  if (native === undefined)
    return reject(404, `The model ${String(model)} does not exist`, 'model_not_found');
  if (dimensions !== undefined && model === 'text-embedding-ada-002') {
    return reject(400, 'This model does not support specifying dimensions.', 'invalid_dimensions');
  }
  const inputs: readonly unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  if (inputs.length > 2048) return reject(400, 'Too many inputs', 'too_many_inputs');
  const width = typeof dimensions === 'number' ? dimensions : native;
  sendJson(response, 200, {
    object: 'list',
    data: inputs.map((_item, index) => {
      const vector = patternVector(index, width);
      return { object: 'embedding', index, embedding: format === 'base64' ? toBase64(vector) : vector };
    }),
    model,
    usage: { prompt_tokens: inputs.length * 5, total_tokens: inputs.length * 5 },
  });
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  // Requests for tokens are forms.
  const isForm = incoming.headers['content-type'] === 'application/x-www-form-urlencoded';
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    text,
    body: text === '' || isForm ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}
