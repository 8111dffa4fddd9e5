// The vendors' own clients as judges: each sends one question in its wire, and says what it has understood of the answer.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { fetch } from 'undici';
import { asObject } from '../assert-answer.js';
import { post } from '../gateway.js';
import type { Answer } from '../gateway.js';
import type { WireTarget } from './check.js';

export type ClientWire = 'chat' | 'messages' | 'responses';
export const CLIENT_WIRES: readonly ClientWire[] = ['chat', 'messages', 'responses'];

type Members = Readonly<Record<string, unknown>>;

/** A turn of the conversation, as the client keeps it to send it again. */
type Turn = Members;

export interface ClientCall {
  readonly isStreamed?: boolean;
  /** After the question. */
  readonly turns?: readonly Turn[];
  readonly reasons?: boolean;
  readonly schema?: object;
}

interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ClientRead {
  readonly status: number;
  /** As it came on the wire. */
  readonly text: string;
  /** Null: the client has thrown instead. */
  readonly answer: ClientAnswer | null;
  readonly error: string | null;
}

interface ClientAnswer {
  readonly text: string;
  readonly calls: readonly ReadCall[];
  readonly finish: string | null;
  /** Of the prompt, its cached part among them, and of the answer. */
  readonly tokens: readonly unknown[];
  readonly cost: unknown;
  /** The answer and the results of its calls, as the next request has them. */
  readonly turns: readonly Turn[];
}

const QUESTION = 'Look at this. '.repeat(60);
const RESULT = 'nothing to see';
const OUTPUT_TOKENS = 2_000;
const SCHEMA = { type: 'object', properties: { id: { type: 'integer' } } };
const TIMEOUT_MS = 20_000;

type Send = NonNullable<ConstructorParameters<typeof OpenAI>[0]>['fetch'] & {};
type Ask = (target: WireTarget, call: ClientCall, send: Send) => Promise<ClientAnswer>;

const costOf = (usage: unknown): unknown => asObject(usage)['cost'];

const openaiOf = ({ origin, version, headers }: WireTarget, send: Send): OpenAI =>
  new OpenAI({
    apiKey: 'none',
    baseURL: origin + version,
    defaultHeaders: headers,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    fetch: send,
  });

/** The bodies have members that other versions of the clients know. */
const inChat: Ask = async (target, { isStreamed = true, turns = [], reasons, schema = SCHEMA }, send) => {
  const body = {
    model: target.model,
    max_tokens: OUTPUT_TOKENS,
    messages: [{ role: 'user', content: QUESTION }, ...turns],
    tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
    ...(reasons && { reasoning: { effort: 'low' } }),
  } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
  const client = openaiOf(target, send);
  const completion = isStreamed
    ? await client.chat.completions
        .stream({ ...body, stream: true, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await client.chat.completions.create(body);
  const [choice] = completion.choices;
  const { usage } = completion;
  const calls = (choice?.message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [
          {
            id: call.id,
            name: call.function.name,
            input: JSON.parse(call.function.arguments || '{}') as unknown,
          },
        ]
      : [],
  );
  const { parsed: _parsed, ...message } = { parsed: null, ...choice?.message };
  return {
    text: choice?.message.content ?? '',
    calls,
    finish: choice?.finish_reason ?? null,
    tokens: [usage?.prompt_tokens, usage?.prompt_tokens_details?.cached_tokens, usage?.completion_tokens],
    cost: costOf(usage),
    turns: [message, ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: RESULT }))],
  };
};

const inMessages: Ask = async (target, { isStreamed = true, turns = [], reasons, schema = SCHEMA }, send) => {
  const client = new Anthropic({
    apiKey: 'none',
    baseURL: target.origin,
    defaultHeaders: target.headers,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    fetch: send,
  });
  const body = {
    model: target.model,
    max_tokens: OUTPUT_TOKENS,
    messages: [{ role: 'user', content: QUESTION }, ...turns],
    tools: [{ name: 'look', input_schema: schema }],
    ...(reasons && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
  } as unknown as Anthropic.MessageCreateParamsNonStreaming;
  let cost: unknown;
  const stream = isStreamed ? client.messages.stream(body) : null;
  // The client puts together the members of usage that it knows.
  stream?.on('streamEvent', (event) => {
    if (event.type === 'message_delta') cost = costOf(event.usage);
  });
  const message = await (stream?.finalMessage() ?? client.messages.create(body));
  const { input_tokens: fresh, cache_read_input_tokens: read, output_tokens: made } = message.usage;
  const calls = message.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  return {
    text: message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    calls,
    finish: message.stop_reason,
    tokens: [fresh + (read ?? 0), read, made],
    cost: cost ?? costOf(message.usage),
    turns: [
      { role: 'assistant', content: message.content },
      {
        role: 'user',
        content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT })),
      },
    ],
  };
};

const inResponses: Ask = async (
  target,
  { isStreamed = true, turns = [], reasons, schema = SCHEMA },
  send,
) => {
  const body = {
    model: target.model,
    max_output_tokens: OUTPUT_TOKENS,
    input: [{ role: 'user', content: QUESTION }, ...turns],
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'look', parameters: schema, strict: false }],
    ...(reasons && { reasoning: { effort: 'low' } }),
  } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
  const client = openaiOf(target, send);
  const response = isStreamed
    ? await client.responses.stream({ ...body, stream: true }).finalResponse()
    : await client.responses.create(body);
  const { usage } = response;
  const calls = response.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments || '{}') as unknown }]
      : [],
  );
  return {
    text: response.output_text,
    calls,
    finish: response.status ?? null,
    tokens: [usage?.input_tokens, usage?.input_tokens_details.cached_tokens, usage?.output_tokens],
    cost: costOf(usage),
    turns: [
      ...response.output.map((item) => item as unknown as Turn),
      ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: RESULT })),
    ],
  };
};

const ASKS: Readonly<Record<ClientWire, Ask>> = {
  chat: inChat,
  messages: inMessages,
  responses: inResponses,
};

export const FINISHES: Readonly<Record<ClientWire, { readonly ofCall: string; readonly ofText: string }>> = {
  chat: { ofCall: 'tool_calls', ofText: 'stop' },
  messages: { ofCall: 'tool_use', ofText: 'end_turn' },
  responses: { ofCall: 'completed', ofText: 'completed' },
};

/** The client's reading of the answer, and the bytes that it has read. */
export async function askIn(
  wire: ClientWire,
  target: WireTarget,
  call: ClientCall,
  signal: AbortSignal,
): Promise<ClientRead> {
  let status = 0;
  let text = Promise.resolve('');
  const send = sendWith(signal, (response) => {
    ({ status } = response);
    text = response.clone().text();
    // It is read later, or never.
    text.catch(() => undefined);
    return response;
  });
  const [answer, error] = await ASKS[wire](target, call, send).then(
    (read) => [read, null] as const,
    (thrown: unknown) => [null, thrown instanceof Error ? thrown.message : String(thrown)] as const,
  );
  return { status, text: await text.catch(() => ''), answer, error };
}

/** Reads a stream until a text has come, or to its end, and closes the connection. Returns the bytes that it has read. */
export async function leaveIn(wire: ClientWire, target: WireTarget, text: string): Promise<string> {
  const controller = new AbortController();
  let read = '';
  const send = sendWith(controller.signal, async (response) => {
    for await (const bytes of response.body ?? []) {
      read += Buffer.from(bytes as Uint8Array).toString();
      if (read.includes(text)) break;
    }
    controller.abort();
    throw new Error('left');
  });
  await ASKS[wire](target, {}, send).catch(() => undefined);
  return read;
}

type Received = Awaited<ReturnType<typeof fetch>>;

/** The client's own requests, whose responses are taken before it reads them. */
function sendWith(signal: AbortSignal, take: (response: Received) => Received | Promise<Received>): Send {
  const send: typeof fetch = async (input, init) => {
    const both = init?.signal ? AbortSignal.any([signal, init.signal]) : signal;
    return take(await fetch(input, { ...init, signal: both }));
  };
  // The same but for the declared types.
  return send as unknown as Send;
}

/** The answer of Anthropic's count of tokens. */
export function countTokens({ origin, headers, model }: WireTarget, signal: AbortSignal): Promise<Answer> {
  const body = { model, messages: [{ role: 'user', content: QUESTION }] };
  return post(`${origin}/v1/messages/count_tokens`, headers, body, signal);
}

/** The events of a stream: their data as objects. */
export function eventsOf({ text }: Pick<ClientRead, 'text'>): Members[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('data: {')) return [];
    return [JSON.parse(line.slice('data: '.length)) as Members];
  });
}
