// Streams as providers send them, with the peculiarities of each wire.
import type { ModelWire, ProviderWire } from '../../../src/domain/chat/model-wire.js';
import type { ChatWire } from '../../../src/providers/shared/chat-wire.js';
import { readUpstreamError } from '../../../src/providers/shared/upstream-error.js';

export interface UpstreamStream {
  readonly name: string;
  readonly body: Buffer;
  readonly wire?: Partial<
    Pick<ChatWire, 'readError' | 'finishReasons' | 'toolCallId' | 'readUsage' | 'callSignatures'>
  >;
  readonly choiceCount?: number;
  readonly excludesReasoning?: boolean;
  /** Absent: Chat. */
  readonly protocol?: ProviderWire;
  readonly client?: ModelWire;
}

export const RELAY_WIRE = { protocol: 'chat', readError: readUpstreamError } as const;

/** Events of one line each. Texts pass as they are, objects as JSON. */
export function sse(...events: readonly (string | object)[]): string {
  return events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');
}

/** A chunk as OpenAI sends it. */
export function openAiChunk(delta: object, others: object = {}): object {
  return {
    id: 'chatcmpl-Bx9qk2',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'gpt-4.1-mini-2025-04-14',
    service_tier: 'default',
    system_fingerprint: 'fp_38343a2f8f',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
    usage: null,
    ...others,
  };
}

/** The last chunk of a choice. */
export function openAiFinish(reason: string, others: object = {}): object {
  return openAiChunk(
    {},
    { choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: reason }], ...others },
  );
}

export const OPENAI_USAGE = {
  prompt_tokens: 9,
  completion_tokens: 12,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 2,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

const openAiUsageChunk = { ...openAiChunk({}), choices: [], usage: OPENAI_USAGE };

/** A chunk with few members, as compatible servers send it. */
export function plainChunk(choice: object, others: object = {}): object {
  return {
    id: 'cmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_001,
    model: 'm',
    choices: [choice],
    ...others,
  };
}

const toolStart = (index: number, id: string, name: string): object => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
});
const toolPart = (index: number, text: string): object => ({
  tool_calls: [{ index, function: { arguments: text } }],
});

export const UPSTREAM_STREAMS: UpstreamStream[] = [];

const STREAMS: readonly (Omit<UpstreamStream, 'body'> & { readonly body: string })[] = [
  {
    name: 'OpenAI: text, usage in a chunk of its own',
    body: sse(
      openAiChunk({ role: 'assistant', content: '', refusal: null }),
      openAiChunk({ content: 'né 🙂 ' }),
      openAiChunk({ content: '"\\\n\u2028' }),
      openAiFinish('stop'),
      openAiUsageChunk,
      '[DONE]',
    ),
  },
  {
    name: 'OpenAI: two tool calls, interleaved',
    body: sse(
      openAiChunk({ role: 'assistant', content: null, ...toolStart(0, 'call_a', 'weather') }),
      openAiChunk(toolPart(0, '{"city":')),
      openAiChunk(toolStart(1, 'call_b', 'time')),
      openAiChunk(toolPart(0, '"Köln"')),
      openAiChunk(toolPart(1, '{}')),
      openAiChunk(toolPart(0, '}')),
      openAiChunk({ content: ' ' }),
      openAiFinish('tool_calls'),
      openAiUsageChunk,
      '[DONE]',
    ),
  },
  {
    name: 'OpenAI: two choices',
    choiceCount: 2,
    body: sse(
      ...[0, 1].map((index) =>
        openAiChunk(
          {},
          { choices: [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
        ),
      ),
      openAiChunk({}, { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }] }),
      openAiChunk({}, { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] }),
      openAiChunk({}, { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }),
      openAiChunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }),
      openAiUsageChunk,
      '[DONE]',
    ),
  },
  {
    name: 'OpenAI: logprobs with a large seed and numbers of any spelling',
    body:
      'data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.00012300,"bytes":[97],"top_logprobs":[]}]},"finish_reason":null}],"extra":12345678901234567890,"e":1.5E+300}\n\n' +
      sse(openAiFinish('stop'), '[DONE]'),
  },
  {
    name: 'Azure: filter results without choices, filtered answer',
    body: sse(
      {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: [{ prompt_index: 0 }],
      },
      openAiChunk({ role: 'assistant', content: 'Hi', refusal: null }),
      openAiChunk({}, { choices: [{ index: 0, finish_reason: null, content_filter_offsets: { start: 0 } }] }),
      openAiFinish('content_filter'),
      '[DONE]',
    ),
  },
  {
    name: 'Mistral: parts of content, usage in the last chunk',
    wire: { finishReasons: { model_length: 'length' } },
    body: sse(
      plainChunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }),
      plainChunk({
        index: 0,
        delta: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm, é' }] }] },
        finish_reason: null,
      }),
      plainChunk({
        index: 0,
        delta: {
          content: [
            { type: 'text', text: 'Yes' },
            { type: 'text', text: '!' },
          ],
        },
        finish_reason: null,
      }),
      plainChunk(
        { index: 0, delta: { content: '' }, finish_reason: 'model_length' },
        { usage: { prompt_tokens: 5, total_tokens: 9, completion_tokens: 4 } },
      ),
      '[DONE]',
    ),
  },
  {
    name: 'Mistral: a tool call in one chunk',
    body: sse(
      plainChunk({
        index: 0,
        delta: {
          content: '',
          tool_calls: [{ id: 'D681PevKs', function: { name: 'f', arguments: '{"a":1}' }, index: 0 }],
        },
        finish_reason: 'tool_calls',
      }),
      '[DONE]',
    ),
  },
  {
    name: 'Together: nulls, the finish word eos',
    body: sse(
      plainChunk(
        {
          index: 0,
          text: 'Hi',
          logprobs: null,
          finish_reason: null,
          seed: null,
          delta: { token_id: 1, role: 'assistant', content: 'Hi', tool_calls: null },
        },
        { usage: null },
      ),
      plainChunk(
        {
          index: 0,
          text: '',
          logprobs: null,
          finish_reason: 'eos',
          seed: 123,
          delta: { token_id: 2, role: 'assistant', content: '', tool_calls: null },
        },
        { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      ),
      '[DONE]',
    ),
  },
  {
    name: 'DeepInfra: a fraction of a cost in the usage',
    body: sse(
      plainChunk(
        {
          index: 0,
          delta: { role: 'assistant', content: null, reasoning_content: null },
          finish_reason: null,
        },
        { usage: null },
      ),
      plainChunk({ index: 0, delta: { reasoning_content: 'Think' }, finish_reason: null }),
      plainChunk({ index: 0, delta: { content: 'Hi' }, finish_reason: null }),
      plainChunk({ index: 0, delta: { content: '' }, finish_reason: 'stop' }),
      plainChunk(
        { index: 0, delta: {} },
        {
          choices: [],
          usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, estimated_cost: 1e-7 },
        },
      ),
      '[DONE]',
    ),
  },
  {
    name: 'Ollama: a whole tool call, reasoning',
    body: sse(
      plainChunk(
        { index: 0, delta: { role: 'assistant', content: '', reasoning: 'Hm' }, finish_reason: null },
        { system_fingerprint: 'fp_ollama' },
      ),
      plainChunk({
        index: 0,
        delta: {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call_x', index: 0, type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        finish_reason: null,
      }),
      plainChunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }),
      '[DONE]',
    ),
  },
  {
    name: 'vLLM: no finish reason, cumulative usage, the last token with the finish',
    body: sse(
      plainChunk(
        { index: 0, delta: { role: 'assistant' } },
        { usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } },
      ),
      plainChunk(
        { index: 0, delta: { reasoning_content: 'Hm' }, stop_reason: null, token_ids: [1, 2] },
        { usage: { prompt_tokens: 10, completion_tokens: 1 } },
      ),
      plainChunk(
        { index: 0, delta: { content: 'last' }, finish_reason: 'stop', stop_reason: 5 },
        { usage: { prompt_tokens: 10, completion_tokens: 40 } },
      ),
      '[DONE]',
    ),
  },
  {
    name: 'vLLM: an error inside the stream',
    body: sse(
      plainChunk({ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }),
      { error: { object: 'error', message: 'too long', type: 'BadRequestError', param: null, code: 400 } },
      '[DONE]',
    ),
  },
  {
    name: 'Google: usage in every chunk, parallel calls without index or id, stop',
    body: sse(
      {
        choices: [
          {
            delta: { role: 'assistant', extra_content: { google: { thought_signature: 'c2ln' } } },
            index: 0,
          },
        ],
        created: 1,
        id: 'g',
        model: 'gemini',
        object: 'chat.completion.chunk',
        usage: { completion_tokens: 0, prompt_tokens: 8, total_tokens: 8 },
      },
      {
        choices: [
          {
            delta: {
              role: 'assistant',
              tool_calls: [
                {
                  extra_content: { google: { thought_signature: 'x' } },
                  function: { arguments: '{"city":"Paris"}', name: 'weather' },
                  id: '',
                  type: 'function',
                },
                { function: { arguments: '{}', name: 'weather' }, id: '', type: 'function' },
              ],
            },
            finish_reason: 'stop',
            index: 0,
          },
        ],
        created: 1,
        id: 'g',
        model: 'gemini',
        object: 'chat.completion.chunk',
        usage: { completion_tokens: 17, prompt_tokens: 8, total_tokens: 60 },
      },
      '[DONE]',
    ),
  },
  {
    name: 'Google: an error in a list',
    body: `data: ${JSON.stringify([{ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }])}\n\n`,
  },
  {
    name: 'Cohere: usage with the finish, an end without [DONE]',
    body: sse(
      plainChunk({ index: 0, delta: { content: 'Hi', role: 'assistant' }, finish_reason: null }),
      plainChunk(
        { index: 0, delta: {}, finish_reason: 'stop' },
        { usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } },
      ),
    ),
  },
  {
    name: 'a compatible server: usage before the finish, a repeated finish reason, role of a model',
    body: sse(
      plainChunk({ index: 0, delta: { role: 'model', content: 'Hi' }, finish_reason: null }),
      plainChunk({ index: 0, delta: {} }, { choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } }),
      plainChunk({ finish_reason: 'end_turn', delta: {}, index: 0 }),
      plainChunk({ index: 0, delta: null, finish_reason: 'end_turn' }, { usage: { completion_tokens: 4 } }),
      '[DONE]',
    ),
  },
  {
    name: 'a compatible server: empty finish reasons throughout',
    body: sse(
      plainChunk({ index: 0, delta: { content: 'Hi' }, finish_reason: '' }),
      plainChunk({ index: 0, delta: { content: '.' }, finish_reason: '' }),
      '[DONE]',
    ),
  },
  {
    name: 'a compatible server: CRLF, comments, other fields, several data lines',
    body:
      '\ufeff: hello\r\n\r\nevent: message\r\nid: 7\r\nretry: 10\r\ndata: {"choices":[{"index":0,\r\ndata:  "delta":{"content":"a"},"finish_reason":null}]}\r\n\r\n' +
      'data:{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}\r\n\r\n: keep-alive\r\n\r\ndata: [DONE]\r\n\r\n',
  },
  {
    name: 'a compatible server: CR alone',
    body: 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\r\rdata: [DONE]\r\r',
  },
  {
    name: 'a compatible server: an event named error',
    body: `${sse(plainChunk({ index: 0, delta: { content: 'Hi' } }))}event: error\ndata: {"message":"gone","status":503}\n\n`,
  },
  {
    name: 'a compatible server: object error',
    body: sse({ object: 'error', message: 'model overloaded', code: 503 }),
  },
  {
    name: 'a compatible server: a choice that ends with an error',
    body: sse(
      plainChunk({ index: 0, delta: { content: 'Hi' } }),
      plainChunk({ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'crashed' } }),
      '[DONE]',
    ),
  },
  {
    name: 'a compatible server: an end in the middle of an event',
    body: sse(plainChunk({ index: 0, delta: { content: 'Hi' } })) + 'data: {"choices":[{"ind',
  },
  {
    name: 'a compatible server: all calls under index 0, arguments as an object',
    body: sse(
      plainChunk({
        index: 0,
        delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }] },
      }),
      plainChunk({
        index: 0,
        delta: { tool_calls: [{ index: 0, id: 'b', type: null, function: { name: 'g', arguments: null } }] },
      }),
      plainChunk({
        index: 0,
        delta: {
          tool_calls: [{ index: 0, id: null, type: 'function', function: { name: null, arguments: '{}' } }],
        },
      }),
      plainChunk({ index: 0, delta: {}, finish_reason: 'tool_use' }),
      '[DONE]',
    ),
  },
  {
    name: 'a compatible server: invalid UTF-8 in a text',
    body: sse(
      plainChunk({ index: 0, delta: { content: '<BAD>' } }),
      plainChunk({ index: 0, delta: {}, finish_reason: 'stop' }),
      '[DONE]',
    ),
  },
  {
    name: 'reasoning that the caller excludes',
    excludesReasoning: true,
    body: sse(
      plainChunk({ index: 0, delta: { reasoning_content: 'secret', reasoning: 'secret' } }),
      plainChunk({
        index: 0,
        delta: { content: 'Hi', reasoning_details: [{ type: 'reasoning.text', text: 'secret' }] },
        finish_reason: 'stop',
      }),
      '[DONE]',
    ),
  },
  {
    name: 'usage inside a choice, an id and members spelled with escapes',
    body:
      'data: {"\\u0069d":"secret","us\\u0061ge":{"prompt_tokens":1,"completion_tokens":1},"choices":[{"index":0,"delta":{"cont\\u0065nt":"\\ud83d\\ude42 \\/"},"finish_reason":"stop","usage":{"prompt_tokens":3}}]}\n\n' +
      sse('[DONE]'),
  },
];

for (const stream of STREAMS) {
  const bytes = Buffer.from(stream.body).toString('latin1').replace('<BAD>', '\xc3\x28\xff');
  UPSTREAM_STREAMS.push({ ...stream, body: Buffer.from(bytes, 'latin1') });
}
