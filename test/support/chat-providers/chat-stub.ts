// Stubs of chat providers: closed schemas that refuse what the vendor refuses, and answers with the vendor's peculiarities.
import { sendStubReply, startStubServer } from '../providers/provider-stub.js';
import type { StubReply, StubRequest } from '../providers/provider-stub.js';
import { COMPLETE, playStream } from './stream-script.js';
import type { StreamScript, StubChunk, VendorStream } from './stream-script.js';

type Body = Readonly<Record<string, unknown>>;

export interface ChatStubUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly [member: string]: unknown;
}

/** Every choice of an answer; streams give one chunk for each delta. */
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
  /** Further paths of the operation. */
  readonly otherPaths?: readonly string[];
  readonly apiKey: string;
  isAuthorised(request: StubRequest): boolean;
  unauthorised(): StubReply;
  /** Null: the vendor takes the body. */
  refusal(body: Body): StubReply | null;
  /** `asked`: with stream_options only. */
  readonly usage: 'asked' | 'last' | 'every_chunk' | 'never';
  /** Before the chunks of the answer. */
  readonly firstChunk?: Readonly<Record<string, unknown>>;
  /** The vendor's form of a delta, or of the message of an answer without a stream. */
  readonly alter?: (delta: Body) => Body;
  /** Tool calls come in one chunk, with all their arguments. */
  readonly sendsWholeCalls?: true;
}

export interface RunningChatStub {
  readonly baseUrl: string;
  readonly requests: readonly StubRequest[];
  /** Forgets the requests that it has received. */
  forget(): void;
  /** Connections that the caller closed before the end of an answer. */
  readonly cut: number;
  /** Null: back to the plain one. */
  answerWith(answer: ChatStubAnswer | null): void;
  /** The stream of the next calls that the vendor takes; null: back to a good one. */
  streamWith(script: StreamScript | null): void;
  /** The reply to all next calls, whatever they hold; null: back to normal. */
  replyWith(reply: StubReply | null): void;
  /** Answers without a stream wait until they are released. */
  holdAnswers(): void;
  releaseAnswers(): void;
  close(): Promise<void>;
}

export const PLAIN_ANSWER: ChatStubAnswer = {
  deltas: [{ role: 'assistant', content: '' }, { content: 'Hello' }, { content: ' there' }],
  finishReason: 'stop',
  usage: { prompt_tokens: 9, completion_tokens: 2 },
};

const fragment = (index: number, text: string): object => ({ index, function: { arguments: text } });
const beginning = (index: number, id: string, name: string): object => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: '' },
});

/** Two tool calls whose fragments alternate. */
export const INTERLEAVED_CALLS: ChatStubAnswer = {
  deltas: [
    { role: 'assistant', content: null, tool_calls: [beginning(0, 'callAAAA1', 'weather')] },
    { tool_calls: [fragment(0, '{"city":')] },
    { tool_calls: [beginning(1, 'callBBBB2', 'time')] },
    { tool_calls: [fragment(0, '"Köln"')] },
    { tool_calls: [fragment(1, '{}')] },
    { tool_calls: [fragment(0, '}')] },
  ],
  finishReason: 'tool_calls',
  usage: { prompt_tokens: 40, completion_tokens: 12 },
};
/** As clients assemble it; ids are the vendor's own, or made where it has none. */
export const INTERLEAVED_FUNCTIONS = [
  { name: 'weather', arguments: '{"city":"Köln"}' },
  { name: 'time', arguments: '{}' },
];

export const bearerOf = ({ headers }: StubRequest): string | undefined =>
  headers.authorization?.replace(/^Bearer /, '');

export async function startChatStub(definition: ChatStubDefinition): Promise<RunningChatStub> {
  const requests: StubRequest[] = [];
  let answer = PLAIN_ANSWER;
  let scripted: StubReply | null = null;
  let script = COMPLETE;
  let hold: Promise<void> | null = null;
  let release = (): void => undefined;
  let cut = 0;
  const { origin, close } = await startStubServer((request, response) => {
    let isOver = false;
    response.on('close', () => {
      if (!isOver && !response.writableFinished) cut++;
    });
    requests.push(request);
    const reply = scripted ?? refusalOf(definition, request);
    if (reply) sendStubReply(response, reply);
    else if (request.body['stream'] === true) {
      const steps = script(streamOf(definition, request.body, answer), request);
      isOver = steps.includes('cut');
      void playStream(steps, response);
    } else {
      const whole = { status: 200, body: wholeAnswer(definition, request.body, answer) };
      void Promise.resolve(hold).then(() => sendStubReply(response, whole));
    }
  });
  return {
    baseUrl: `${origin}${definition.basePath}`,
    requests,
    forget: () => void requests.splice(0),
    get cut() {
      return cut;
    },
    answerWith: (next) => {
      answer = next ?? PLAIN_ANSWER;
    },
    streamWith: (next) => {
      script = next ?? COMPLETE;
    },
    replyWith: (reply) => {
      scripted = reply;
    },
    holdAnswers: () => {
      hold ??= new Promise((resolve) => (release = resolve));
    },
    releaseAnswers: () => {
      hold = null;
      release();
    },
    close,
  };
}

function refusalOf(definition: ChatStubDefinition, request: StubRequest): StubReply | null {
  const [path] = request.path.split('?');
  const { path: known, otherPaths = [] } = definition;
  if (request.method !== 'POST' || path === undefined || ![known, ...otherPaths].includes(path))
    return { status: 404, body: { error: { message: `no route ${request.path}`, code: null } } };
  return definition.isAuthorised(request) ? definition.refusal(request.body) : definition.unauthorised();
}

/** The indexes of the choices that the caller asks for. */
const choicesOf = ({ n }: Body): number[] =>
  Array.from({ length: typeof n === 'number' ? n : 1 }, (_, at) => at);

function streamOf(
  { usage: form, firstChunk, alter, sendsWholeCalls }: ChatStubDefinition,
  body: Body,
  { deltas, finishReason, usage }: ChatStubAnswer,
): VendorStream {
  const { stream_options: options } = body as { stream_options?: { include_usage?: boolean } };
  const total = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  const base = { id: 'up-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: body['model'] };
  const isAsked = form === 'asked' && options?.include_usage === true;
  const everyChunk = form === 'every_chunk' ? { usage: total } : isAsked ? { usage: null } : {};
  const last = form === 'last' ? { usage: total } : everyChunk;
  const chunk = (index: number, delta: object, finish: string | null, others: object): StubChunk => ({
    ...base,
    choices: [{ index, delta, finish_reason: finish }],
    ...others,
  });
  const indexes = choicesOf(body);
  return {
    chunks: [
      ...(firstChunk ? [{ ...base, ...firstChunk }] : []),
      ...(sendsWholeCalls ? withWholeCalls(deltas) : deltas).flatMap((delta) =>
        indexes.map((index) => chunk(index, alter?.(delta) ?? delta, null, everyChunk)),
      ),
    ],
    finishes: indexes.map((index) =>
      chunk(index, {}, finishReason, index === indexes.length - 1 ? last : everyChunk),
    ),
    usageChunk: isAsked ? { ...base, choices: [], usage: total } : null,
    usage: total,
  };
}

interface StubCall {
  readonly index: number;
  readonly function: { readonly arguments: string };
}

/** The tool calls of deltas, each with all its arguments. */
function callsOf(deltas: readonly Body[]): object[] {
  const calls = new Map<number, StubCall>();
  for (const { tool_calls: list } of deltas) {
    for (const part of Array.isArray(list) ? (list as StubCall[]) : []) {
      const begun = calls.get(part.index);
      const text = `${begun?.function.arguments ?? ''}${part.function.arguments}`;
      const called = { ...(begun ?? part).function, arguments: text };
      calls.set(part.index, { ...(begun ?? part), function: called });
    }
  }
  return [...calls.values()].map(({ index: _index, ...call }) => call);
}

function withWholeCalls(deltas: readonly Body[]): readonly Body[] {
  const calls = callsOf(deltas);
  if (calls.length === 0) return deltas;
  const texts = deltas.filter((delta) => !('tool_calls' in delta));
  const indexed = calls.map((call, index) => Object.assign({ index }, call));
  return [...texts, { role: 'assistant', content: null, tool_calls: indexed }];
}

function wholeAnswer(
  { usage: form, alter }: ChatStubDefinition,
  body: Body,
  { deltas, finishReason, usage }: ChatStubAnswer,
): object {
  const joined = deltas.map(({ content }) => (typeof content === 'string' ? content : '')).join('');
  const calls = callsOf(deltas);
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
    choices: choicesOf(body).map((index) => ({
      index,
      message: alter?.(message) ?? message,
      finish_reason: finishReason,
    })),
    ...(form === 'never' ? {} : { usage: total }),
  };
}
