// One stub of every provider's wire, a model at each, and the configuration of a service for them.
import type { ServerResponse } from 'node:http';
import { BEDROCK_KEY, startBedrockStub } from '../bedrock/bedrock-stub.js';
import { GEMINI_KEY, startGeminiStub } from '../gemini/gemini-stub.js';
import { startMessagesStub, STUB_KEY as ANTHROPIC_KEY } from '../messages/messages-stub.js';
import { startResponsesStub, STUB_KEY as OPENAI_KEY } from '../responses/responses-stub.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';
import { serviceAccount } from '../vertex/service-account.js';
import { startVertexStub } from '../vertex/vertex-stub.js';
import type { Piece } from './pieces.js';
import { WIRE_ANSWERS } from './wire-answers.js';
import type { AnswerWire } from './wire-answers.js';

/** 70 at 2, 30 at 0.1 and 20 at 10 USD a million. */
export const COST = 0.000343;

interface WireProvider {
  readonly provider: string;
  /** The form of its answers. */
  readonly answer: AnswerWire;
  readonly upstream_model: string;
  readonly wires?: readonly string[];
}

/** The clouds speak a vendor's wire at addresses of their own. */
const WIRE_PROVIDERS = {
  chat: { provider: 'openai-compatible', answer: 'chat', upstream_model: 'open-stub' },
  messages: { provider: 'anthropic', answer: 'messages', upstream_model: 'claude-stub' },
  responses: {
    provider: 'openai',
    answer: 'responses',
    upstream_model: 'gpt-5-stub',
    wires: ['responses'],
  },
  gemini: {
    provider: 'google',
    answer: 'gemini',
    upstream_model: 'gemini-2.5-stub',
    wires: ['gemini'],
  },
  converse: { provider: 'bedrock', answer: 'converse', upstream_model: 'amazon.nova-stub-v1:0' },
  'bedrock-messages': {
    provider: 'bedrock',
    answer: 'bedrock-messages',
    upstream_model: 'eu.anthropic.claude-stub-v1:0',
    wires: ['messages'],
  },
  'vertex-gemini': { provider: 'google-vertex', answer: 'gemini', upstream_model: 'gemini-2.5-stub' },
  'vertex-messages': {
    provider: 'google-vertex',
    answer: 'messages',
    upstream_model: 'claude-stub@20261001',
    wires: ['messages'],
  },
} satisfies Readonly<Record<string, WireProvider>>;
export type WireProviderName = keyof typeof WIRE_PROVIDERS;
export const WIRE_PROVIDER_NAMES = Object.keys(WIRE_PROVIDERS) as readonly WireProviderName[];

export const modelBehind = (name: WireProviderName): string => `in-house/${name}`;
export const providerOf = (name: WireProviderName): WireProvider => WIRE_PROVIDERS[name];

const CATALOGUE = {
  chat_models: WIRE_PROVIDER_NAMES.map((name) => {
    const { answer: _answer, ...members } = providerOf(name);
    return {
      id: modelBehind(name),
      created_at: '2026-01-01',
      context_length: 100_000,
      endpoints: [
        {
          supported_parameters: ['max_tokens', 'tools', 'tool_choice', 'reasoning'],
          reasoning_efforts: ['low', 'high'],
          data_policy: { retains_prompts: false, trains: false },
          prices: [
            {
              effective_from: '2020-01-01',
              source: 'the list of this test',
              usd_per_million_tokens: { prompt: 2, cache_read: 0.1, completion: 10 },
            },
          ],
          ...members,
        },
      ],
    };
  }),
};

/** The answer of every stub until the next script. */
export interface WireScript {
  readonly pieces: readonly Piece[];
  /** The stream goes on after this many parts; absent: to its end. */
  readonly after?: number;
  /** The event after them. */
  readonly ending?: 'failure' | 'end' | 'cut' | 'stall';
  /** Every byte by itself. */
  readonly isInBytes?: boolean;
  /** Instead of an answer, a 429. */
  readonly isRefused?: boolean;
}

export const TEXT_AND_CALL: WireScript = {
  pieces: [
    { kind: 'text', deltas: ['Hel', 'lo'] },
    { kind: 'call', id: 'call_1', name: 'look', input: { id: 7 } },
  ],
};

export interface WireStubs {
  readonly environment: Readonly<Record<string, string>>;
  /** The text of a catalogue file. */
  readonly catalogue: string;
  /** Of Google's clouds: where they give tokens. */
  originOf(name: WireProviderName): string;
  /** Those that the provider of this wire has received, without requests for tokens and counts. */
  requestsOf(name: WireProviderName): readonly ReceivedRequest[];
  /** Answers that their client has left. */
  countLeft(): number;
  answerWith(script: WireScript): void;
  close(): Promise<void>;
}

export async function startWireStubs(): Promise<WireStubs> {
  let script = TEXT_AND_CALL;
  let left = 0;
  const answerIn =
    (wireOf: (request: ReceivedRequest) => AnswerWire) =>
    (request: ReceivedRequest, response: ServerResponse): void => {
      response.on('close', () => {
        if (!response.writableEnded) left++;
      });
      void send(script, wireOf(request), request, response);
    };
  const answerInChat = answerIn(() => 'chat');
  const chat = await startStubUpstream((request, response) =>
    request.path === '/v1/chat/completions'
      ? answerInChat(request, response)
      : sendJson(response, 404, { error: { message: 'Not Found' } }),
  );
  const anthropic = await startMessagesStub();
  const openai = await startResponsesStub();
  const google = await startGeminiStub();
  const bedrock = await startBedrockStub();
  const vertex = await startVertexStub();
  anthropic.answerWith(answerIn(() => 'messages'));
  openai.answerWith(answerIn(() => 'responses'));
  google.answerWith(answerIn(() => 'gemini'));
  bedrock.answerWith(answerIn(({ path }) => (path.includes('/converse') ? 'converse' : 'bedrock-messages')));
  vertex.answerWith(answerIn(({ path }) => (path.includes('awPredict') ? 'messages' : 'gemini')));
  const stubs: Readonly<Record<string, StubUpstream>> = {
    'openai-compatible': chat,
    anthropic,
    openai,
    google,
    bedrock,
    'google-vertex': vertex,
  };
  const stubOf = (name: WireProviderName): StubUpstream => {
    const stub = stubs[providerOf(name).provider];
    if (!stub) throw new Error(`${name} has no stub`);
    return stub;
  };
  return {
    environment: {
      OPENAI_COMPATIBLE_BASE_URL: `${chat.origin}/v1`,
      ANTHROPIC_API_KEY: ANTHROPIC_KEY,
      ANTHROPIC_BASE_URL: anthropic.origin,
      OPENAI_API_KEY: OPENAI_KEY,
      OPENAI_BASE_URL: `${openai.origin}/v1`,
      GOOGLE_API_KEY: GEMINI_KEY,
      GOOGLE_BASE_URL: `${google.origin}/v1beta`,
      BEDROCK_API_KEY: BEDROCK_KEY,
      BEDROCK_BASE_URL: bedrock.origin,
      VERTEX_API_KEY: JSON.stringify(serviceAccount('operator', { token_uri: `${vertex.origin}/token` })),
      VERTEX_BASE_URL: `${vertex.origin}/v1`,
      PROVIDER_RETRIES: '0',
    },
    catalogue: JSON.stringify(CATALOGUE),
    originOf: (name) => stubOf(name).origin,
    requestsOf: (name) => stubOf(name).requests.filter(({ path }) => !/count|^\/token$/i.test(path)),
    countLeft: () => left,
    answerWith: (next) => {
      script = next;
    },
    close: async () => {
      for (const stub of Object.values(stubs)) await stub.close();
    },
  };
}

async function send(
  { pieces, after, ending = 'end', isInBytes = false, isRefused = false }: WireScript,
  wire: AnswerWire,
  request: ReceivedRequest,
  response: ServerResponse,
): Promise<void> {
  const { whole, parts, failure, refusal, contentType } = WIRE_ANSWERS[wire];
  if (isRefused) return sendJson(response, 429, refusal);
  // Some have the form in the path, others in the body.
  if (request.body['stream'] !== true && !/stream/i.test(request.path))
    return sendJson(response, 200, whole(pieces));
  response.writeHead(200, { 'content-type': contentType });
  const write = (bytes: Buffer | string): Promise<void> =>
    new Promise((resolve) => response.write(bytes, () => resolve()));
  for (const part of parts(pieces).slice(0, after)) {
    const bytes = Buffer.from(part);
    if (isInBytes) for (const byte of bytes) await write(Buffer.of(byte));
    else await write(bytes);
  }
  if (after !== undefined && ending === 'stall') return;
  if (after !== undefined && ending === 'failure') await write(failure);
  if (after !== undefined && ending === 'cut') response.destroy();
  else response.end();
}
