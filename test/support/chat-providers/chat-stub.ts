// Stubs of chat providers: closed schemas that refuse what the vendor refuses, and answers with the vendor's peculiarities.
import type { ServerResponse } from 'node:http';
import { sendStubReply, startStubServer } from '../providers/provider-stub.js';
import type { StubReply, StubRequest } from '../providers/provider-stub.js';

export interface ChatStubUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly [member: string]: unknown;
}

/** One choice of an answer; streams give one chunk for each delta. */
export interface ChatStubAnswer {
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
  readonly finishReason: string;
  readonly usage: ChatStubUsage;
}

export interface ChatStubDefinition {
  readonly slug: string;
  /** The path of the base URL, and that of the operation below the server. */
  readonly basePath: string;
  readonly path: string;
  readonly apiKey: string;
  isAuthorised(request: StubRequest): boolean;
  unauthorised(): StubReply;
  /** Null: the vendor takes the body. */
  refusal(body: Readonly<Record<string, unknown>>): StubReply | null;
  /** `asked`: with stream_options only. */
  readonly usage: 'asked' | 'last' | 'every_chunk' | 'never';
  /** Before the chunks of the answer. */
  readonly firstChunk?: Readonly<Record<string, unknown>>;
  /** The vendor's form of a delta, or of the message of an answer without a stream. */
  readonly alter?: (delta: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

export interface RunningChatStub {
  readonly baseUrl: string;
  readonly requests: readonly StubRequest[];
  /** Connections that the caller closed before the end of an answer. */
  readonly cut: number;
  answerWith(answer: ChatStubAnswer): void;
  /** The reply to all next calls, whatever they hold; null: back to normal. */
  replyWith(reply: StubReply | null): void;
  close(): Promise<void>;
}

export const PLAIN_ANSWER: ChatStubAnswer = {
  deltas: [{ role: 'assistant', content: '' }, { content: 'Hello' }, { content: ' there' }],
  finishReason: 'stop',
  usage: { prompt_tokens: 9, completion_tokens: 2 },
};

export const bearerOf = ({ headers }: StubRequest): string | undefined =>
  headers.authorization?.replace(/^Bearer /, '');

export async function startChatStub(definition: ChatStubDefinition): Promise<RunningChatStub> {
  const requests: StubRequest[] = [];
  let answer = PLAIN_ANSWER;
  let scripted: StubReply | null = null;
  let cut = 0;
  const { origin, close } = await startStubServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) cut++;
    });
    requests.push(request);
    respond(definition, request, scripted, answer, response);
  });
  return {
    baseUrl: `${origin}${definition.basePath}`,
    requests,
    get cut() {
      return cut;
    },
    answerWith: (next) => {
      answer = next;
    },
    replyWith: (reply) => {
      scripted = reply;
    },
    close,
  };
}

function respond(
  definition: ChatStubDefinition,
  request: StubRequest,
  scripted: StubReply | null,
  answer: ChatStubAnswer,
  response: ServerResponse,
): void {
  const refused = scripted ?? refusalOf(definition, request);
  if (refused) {
    sendStubReply(response, refused);
  } else if (request.body['stream'] === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunksOf(definition, request.body, answer))
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  } else {
    sendStubReply(response, { status: 200, body: wholeAnswer(definition, request.body, answer) });
  }
}

function refusalOf(definition: ChatStubDefinition, request: StubRequest): StubReply | null {
  const [path] = request.path.split('?');
  if (request.method !== 'POST' || path !== definition.path)
    return { status: 404, body: { error: { message: `no route ${request.path}`, code: null } } };
  return definition.isAuthorised(request) ? definition.refusal(request.body) : definition.unauthorised();
}

function chunksOf(
  { usage: form, firstChunk, alter }: ChatStubDefinition,
  body: Readonly<Record<string, unknown>>,
  { deltas, finishReason, usage }: ChatStubAnswer,
): object[] {
  const { stream_options: options } = body as { stream_options?: { include_usage?: boolean } };
  const total = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  const base = { id: 'up-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: body['model'] };
  const isAsked = form === 'asked' && options?.include_usage === true;
  const everyChunk = form === 'every_chunk' ? { usage: total } : isAsked ? { usage: null } : {};
  const chunks: object[] = deltas.map((delta) => ({
    ...base,
    choices: [{ index: 0, delta: alter?.(delta) ?? delta, finish_reason: null }],
    ...everyChunk,
  }));
  const last = form === 'last' ? { usage: total } : everyChunk;
  chunks.push({ ...base, choices: [{ index: 0, delta: {}, finish_reason: finishReason }], ...last });
  if (isAsked) chunks.push({ ...base, choices: [], usage: total });
  return firstChunk ? [{ ...base, ...firstChunk }, ...chunks] : chunks;
}

function wholeAnswer(
  { usage: form, alter }: ChatStubDefinition,
  body: Readonly<Record<string, unknown>>,
  { deltas, finishReason, usage }: ChatStubAnswer,
): object {
  const joined = deltas.map(({ content }) => (typeof content === 'string' ? content : '')).join('');
  const calls = deltas.flatMap(({ tool_calls: list }) => (Array.isArray(list) ? (list as object[]) : []));
  const message = {
    role: 'assistant',
    content: calls.length > 0 && joined === '' ? null : joined,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const total = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  return {
    id: 'up-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: body['model'],
    choices: [{ index: 0, message: alter?.(message) ?? message, finish_reason: finishReason }],
    ...(form === 'never' ? {} : { usage: total }),
  };
}
