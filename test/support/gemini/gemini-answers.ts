// Any answer in Gemini's wire, and the same answer sent back by a client of each wire.
import * as fc from '../fast-check.js';
import { accumulated, parsedEvents, relayedResponse } from '../responses/relayed-response.js';
import { chunksOf, joinedText, relayed } from '../chat/relay.js';
import { readMessageStream } from '../messages/read-messages-stream.js';
import { readMessagesRequest } from '../../../src/chat/request/messages/read-messages-request.js';
import { readResponsesRequest } from '../../../src/chat/request/responses/read-responses-request.js';
import type { ChatRequest } from '../../../src/domain/chat/chat-request.js';
import { readBody } from '../chat-providers/send-chat.js';
import type { UpstreamStream } from '../chat/upstream-streams.js';
import { geminiCall, geminiChunk, geminiSse } from './gemini-stub.js';

export type Part =
  | { readonly type: 'text' | 'thought'; readonly text: string }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly args: object;
      readonly signature: string | null;
    };

export interface Scenario {
  readonly parts: readonly Part[];
  /** Of the text, in the last, empty part. */
  readonly textSignature: string | null;
  /** Parts of a chunk. */
  readonly size: number;
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const signature = fc.stringMatching(/^[A-Za-z0-9+/]{4,20}$/);
const args = fc.dictionary(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 5 }).filter((name) => name !== '__proto__'),
  fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text, { maxLength: 2 })),
  { maxKeys: 3 },
);

export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    parts: fc.array(
      fc.oneof(
        fc.record({ type: fc.constantFrom('text' as const, 'thought' as const), text }),
        fc.record({
          type: fc.constant('call' as const),
          id: fc.constant<string>(''),
          name: fc.stringMatching(/^[a-z_]{1,8}$/),
          args,
          signature: fc.option(signature),
        }),
      ),
      { minLength: 1, maxLength: 6 },
    ),
    textSignature: fc.option(signature),
    size: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ parts, textSignature, size }) => {
    const numbered = parts.map((part, index) =>
      part.type === 'call' ? { ...part, id: `fc-${index}` } : part,
    );
    // Google signs the text at the end of an answer without calls.
    const isOfText = parts.at(-1)?.type === 'text' && parts.every(({ type }) => type !== 'call');
    return { parts: numbered, textSignature: isOfText ? textSignature : null, size };
  });

function written(part: Part): object {
  if (part.type !== 'call') return { text: part.text, ...(part.type === 'thought' && { thought: true }) };
  const { id, name, args: of, signature: thoughtSignature } = part;
  return geminiCall(name, of, { id, ...(thoughtSignature !== null && { thoughtSignature }) });
}

export function geminiStream({ parts, textSignature, size }: Scenario): UpstreamStream {
  const all = parts.map(written);
  const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_none, at) =>
    geminiChunk(all.slice(at * size, (at + 1) * size)),
  );
  const last = { text: '', ...(textSignature !== null && { thoughtSignature: textSignature }) };
  const body = Buffer.from(geminiSse([...chunks, geminiChunk([last], { finishReason: 'STOP' })]));
  return { name: 'an answer of Gemini', protocol: 'gemini', body };
}

interface SentPart {
  readonly text?: string;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: object };
}

/** The parts that a turn must keep; thoughts are the model's own affair. */
export function essenceOf({ parts, textSignature }: Scenario, placeholder: string): object {
  const calls = parts.filter((part) => part.type === 'call');
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    textSignature,
    calls: calls.map(({ id, name, args: of, signature: own }, index) => [
      { id, name, args: of },
      own ?? (index === 0 ? placeholder : null),
    ]),
  };
}

export function essenceOfTurn(parts: readonly SentPart[]): object {
  return {
    text: parts.map((part) => part.text ?? '').join(''),
    textSignature: parts.findLast((part) => part.text !== undefined)?.thoughtSignature ?? null,
    calls: parts.flatMap(({ functionCall, thoughtSignature }) =>
      functionCall ? [[functionCall, thoughtSignature ?? null]] : [],
    ),
  };
}

const USER = { role: 'user', content: 'hi' };

/** The next request of a client of Chat: the answer, the results of its calls, and a word of the user. */
export function sentBackInChat(stream: UpstreamStream, pieces: Iterable<Buffer>): ChatRequest {
  const chunks = chunksOf(relayed({ ...stream, client: 'chat' }, pieces).output);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const details = deltas.flatMap((delta) => (delta['reasoning_details'] ?? []) as object[]);
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const fragment of deltas.flatMap(
    (delta) => (delta['tool_calls'] ?? []) as ((typeof calls)[0] & { index: number })[],
  )) {
    const { index, id, function: called } = fragment;
    calls[index] ??= { id, type: 'function', function: { name: called.name, arguments: '' } };
    calls[index].function.arguments += called.arguments;
  }
  const assistant = {
    role: 'assistant',
    content: joinedText(chunks) || null,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  return readBody({ messages: [USER, assistant, ...results, USER] });
}

export function sentBackInMessages(stream: UpstreamStream, pieces: Iterable<Buffer>): ChatRequest {
  const { output, last } = relayed({ ...stream, client: 'messages' }, pieces);
  const { blocks } = readMessageStream(output + last);
  const content = blocks.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'thinking')
      return { type: 'thinking', thinking: block.text, signature: block.signature };
    return { type: 'tool_use', id: block.id, name: block.name, input: JSON.parse(block.text) as object };
  });
  const results = blocks.flatMap(({ id }) =>
    id === undefined ? [] : [{ type: 'tool_result', tool_use_id: id, content: 'ok' }],
  );
  const next = { role: 'user', content: [...results, { type: 'text', text: 'hi' }] };
  const messages = [USER, { role: 'assistant', content }, next];
  const body = { model: 'vendor/model', max_tokens: 10, messages };
  return readMessagesRequest(body, Buffer.from(JSON.stringify(body)), {}).request;
}

export function sentBackInResponses(stream: UpstreamStream, pieces: Iterable<Buffer>): ChatRequest {
  const { joined, last } = accumulated(parsedEvents(relayedResponse(stream, pieces)));
  if (JSON.stringify(joined.output) !== JSON.stringify(last.output)) throw new Error('items differ');
  const results = last.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: 'ok' }]
      : [],
  );
  const body = { model: 'vendor/model', input: [USER, ...last.output, ...results, USER] };
  return readResponsesRequest(body, Buffer.from(JSON.stringify(body))).request;
}
