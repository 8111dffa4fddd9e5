// Words that are found again wherever they end up, put into every place where callers and providers use their own.
import { gunzipSync } from 'node:zlib';
import type { DeliveryRequest } from '../../../src/destination-kinds/shared/delivery.js';
import type { ChatChoice } from '../../../src/domain/chat/chat-outcome.js';
import { chatParameters } from '../../../src/domain/chat/chat-parameters.js';
import type { ChatRequest } from '../../../src/domain/chat/chat-request.js';
import type { EmbeddingInput } from '../../../src/domain/embeddings/embedding.js';
import type { GenerationCandidate } from '../../../src/domain/generations/generation-candidate.js';
import { contentOf, contentOfChat } from '../../../src/domain/generations/generation-content.js';
import type { GenerationContent } from '../../../src/domain/generations/generation-content.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import { createChatFacts } from '../generations/chat-generation.js';
import { chatMessage, chatRequest } from '../requests/chat-request.js';
import { createCandidate } from '../generations/generation-candidate.js';

/** Only letters and digits: no encoding of text changes it. The same beginning in all of them. */
export const canary = (member: string): string => `canary${member}7f3a9c`;
const CANARY = /canary\w+?7f3a9c/gi;

/** Token ids that nothing else looks like. */
export const TOKEN_CANARIES = [90_417_364, 80_550_193];

const INPUTS: Readonly<Record<string, EmbeddingInput>> = {
  texts: { form: 'texts', items: [`before ${canary('Text')} after`, canary('SecondText')] },
  tokens: { form: 'tokens', items: [TOKEN_CANARIES] },
  'multimodal items': {
    form: 'multimodal',
    items: [
      {
        content: [
          { type: 'text', text: canary('TextPart') },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${canary('Image')}` } },
          { type: 'input_file', input_file: { data: canary('File') }, text: canary('Unexpected') },
        ],
      },
    ],
  },
};

const FAILURE: Partial<Generation> = {
  status: 502,
  errorType: 'provider_unavailable',
  promptTokens: 0,
  totalTokens: 0,
  dimensions: null,
  attempts: [
    { provider: 'azure', endpoint: 'azure/e', status: 500, errorType: 'failed', durationMs: 3 },
    { provider: 'openai', endpoint: 'openai/e', status: null, errorType: 'timeout', durationMs: 30 },
  ],
};

const ERROR = `Provider said: ${canary('Error')}`;
const TOOL_CALL = { id: canary('CallId'), name: canary('CallName'), arguments: canary('CallArguments') };

const CHAT: ChatRequest = chatRequest(
  [
    chatMessage('system', canary('System')),
    chatMessage('user', [
      { type: 'text', text: canary('ChatText') },
      {
        type: 'image',
        body: { image_url: { url: `data:image/png;base64,${canary('Image')}` } },
        url: null,
        bytes: 12,
        mediaType: 'image/png',
        detail: null,
      },
    ]),
    chatMessage('assistant', null, { toolCalls: [TOOL_CALL], name: canary('MessageName') }),
    chatMessage('tool', canary('ToolResult'), { toolCallId: canary('CallId') }),
  ],
  {
    members: { stop: [canary('Stop')], seed: 7, verbosity: canary('Verbosity') },
    tools: [
      {
        name: canary('ToolName'),
        body: { type: 'function', function: { name: canary('ToolName'), description: canary('ToolText') } },
      },
    ],
    toolChoice: { functionName: canary('ToolName') },
    responseFormat: 'json_schema',
    responseSchema: { title: canary('Schema') },
  },
);
const CHOICE: ChatChoice = {
  index: 0,
  content: canary('Answer'),
  reasoning: canary('Reasoning'),
  refusal: canary('Refusal'),
  toolCalls: [TOOL_CALL],
  finishReason: 'stop',
  nativeFinishReason: 'stop',
};
const CHAT_MEMBERS: Partial<Generation> = {
  operation: 'chat',
  model: 'openai/gpt-4.1-mini',
  dimensions: null,
  encodingFormat: null,
  chat: createChatFacts({
    parameters: chatParameters(CHAT),
    nativeFinishReason: `because ${canary('Native')}`,
    serviceTier: `the ${canary('Tier')}`,
  }),
};
const DROPPED: Partial<Generation> = {
  attempts: [
    {
      provider: 'openai',
      endpoint: 'openai/e',
      status: 200,
      errorType: null,
      durationMs: 3,
      droppedMembers: [canary('Member')],
    },
  ],
};

/** Calls with canaries in their texts, each under the name of what is special about it. */
export const CANARY_CALLS: readonly (readonly [name: string, candidate: GenerationCandidate])[] = [
  ...Object.entries(INPUTS).flatMap(([form, input]) => [
    [`a success with ${form}`, plant(contentOf(input, null), {})] as const,
    [`a failure with ${form}`, plant(contentOf(input, ERROR), FAILURE)] as const,
  ]),
  ['a chat', plant(contentOfChat(CHAT, [CHOICE], null), { ...CHAT_MEMBERS, ...DROPPED })],
  ['a failed chat', plant(contentOfChat(CHAT, [CHOICE], ERROR), { ...FAILURE, ...CHAT_MEMBERS })],
];

function plant(content: GenerationContent, overrides: Partial<Generation>): GenerationCandidate {
  return createCandidate({
    content,
    generation: {
      ...overrides,
      userId: 'customer-7',
      sessionId: 'session-9',
      inputType: canary('InputType'),
      upstreamId: `said ${canary('UpstreamId')}`,
      requestContext: {
        userAgent: canary('UserAgent'),
        referer: `https://${canary('Referer')}.example.com/`,
        title: canary('Title'),
      },
      trace: {
        trace_id: canary('TraceId'),
        trace_name: canary('TraceName'),
        span_name: canary('SpanName'),
        generation_name: canary('GenerationName'),
        parent_span_id: canary('ParentSpanId'),
        environment: canary('Environment'),
        [canary('Key')]: 'ordinary',
        nested: { [canary('NestedKey')]: [{ deep: canary('Nested') }] },
        toString: canary('Inherited'),
      },
    },
  });
}

/** Every place whose words stand in a text, in any of the forms that texts are sent in. */
export function canariesIn(text: string): string[] {
  const decoded = (text.match(/[\w+/-]{16,}={0,2}/g) ?? []).flatMap(decodings);
  const found = [text, ...decoded].flatMap((form) => form.match(CANARY) ?? []);
  const tokens = TOKEN_CANARIES.map(String).filter((token) => text.includes(token));
  return [...new Set([...found.map((word) => word.toLowerCase()), ...tokens])];
}

/** The texts that a run of letters and digits encodes as base64 or hex, at any offset in a group of four. */
function decodings(run: string): string[] {
  return [
    ...[0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('latin1')),
    Buffer.from(run, 'hex').toString('latin1'),
  ];
}

/** All that leaves with a request, readable. */
export function readableRequest({ method, url, headers, body = '' }: DeliveryRequest): string {
  const bytes = Buffer.from(body);
  const isCompressed = bytes.length > 2 && bytes.readUInt16BE(0) === 0x1f8b;
  return [
    method,
    url,
    JSON.stringify(headers),
    (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8'),
  ].join('\n');
}
