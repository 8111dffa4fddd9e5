// The service before one stub of every provider's wire. All of them say the same: a text and a call, and the same tokens.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { BEDROCK_KEY, startBedrockStub, streamFrames } from '../bedrock/bedrock-stub.js';
import { eventFrame } from '../bedrock/frames.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { delta } from '../chat/chat-events.js';
import { GEMINI_KEY, startGeminiStub } from '../gemini/gemini-stub.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  startMessagesStub,
  streamMessages,
  STUB_KEY as ANTHROPIC_KEY,
  textBlock,
} from '../messages/messages-stub.js';
import { answerEvents, eventText, itemOf, responseObject } from '../responses/responses-events.js';
import type { OutputSpec } from '../responses/responses-events.js';
import { startResponsesStub, STUB_KEY as OPENAI_KEY } from '../responses/responses-stub.js';
import { streamOf } from '../upstreams/chat-upstream.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { StubHandler, StubUpstream } from '../upstreams/stub-upstream.js';

/** Of 100 tokens of the prompt 30 are cached; 20 are made. */
const TOKENS = { fresh: 70, cached: 30, made: 20 };
const CHAT_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: TOKENS.cached },
};
const MESSAGES_USAGE = {
  input_tokens: TOKENS.fresh,
  cache_read_input_tokens: TOKENS.cached,
  cache_creation_input_tokens: 0,
  output_tokens: TOKENS.made,
};
const RESPONSES_USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: TOKENS.cached },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};
/** Google counts thoughts beside the answer. */
const GEMINI_USAGE = {
  promptTokenCount: 100,
  cachedContentTokenCount: TOKENS.cached,
  candidatesTokenCount: 15,
  thoughtsTokenCount: 5,
  totalTokenCount: 120,
};
const CONVERSE_USAGE = {
  inputTokens: TOKENS.fresh,
  cacheReadInputTokens: TOKENS.cached,
  outputTokens: TOKENS.made,
  totalTokens: 120,
};
/** 70 at 2, 30 at 0.1 and 20 at 10 USD a million. */
export const COST = 0.000343;

const CALL = { id: 'call_1', name: 'look', input: { id: 7 } };
const ARGUMENTS = JSON.stringify(CALL.input);

const WIRES: Readonly<Record<string, object>> = {
  chat: { provider: 'openai-compatible' },
  messages: { provider: 'anthropic' },
  responses: { provider: 'openai', wires: ['responses'] },
  gemini: { provider: 'google', wires: ['gemini'], upstream_model: 'gemini-2.5-stub' },
  converse: { provider: 'bedrock' },
};
export const PROVIDER_WIRE_NAMES = Object.keys(WIRES);

export const modelBehind = (wire: string): string => `in-house/${wire}`;

const CATALOGUE = {
  chat_models: Object.entries(WIRES).map(([wire, members]) => ({
    id: modelBehind(wire),
    created_at: '2026-01-01',
    context_length: 100_000,
    endpoints: [
      {
        upstream_model: 'plain-stub',
        supported_parameters: ['max_tokens', 'tools', 'tool_choice'],
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
  })),
};

const answerInChat: StubHandler = (request, response) => {
  const call = { id: CALL.id, type: 'function', function: { name: CALL.name, arguments: ARGUMENTS } };
  if (request.body['stream'] !== true)
    return sendJson(response, 200, {
      id: 'chatcmpl-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: CHAT_USAGE,
    });
  return streamOf(
    delta({ content: 'Hello' }),
    delta({ tool_calls: [{ index: 0, ...call }] }),
    delta({}, 'tool_calls'),
    { id: 'chatcmpl-1', choices: [], usage: CHAT_USAGE },
    '[DONE]',
  )(request, response);
};

const answerInMessages: StubHandler = (request, response) => {
  if (request.body['stream'] !== true)
    return sendJson(response, 200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', ...CALL },
      ],
      stop_reason: 'tool_use',
      usage: MESSAGES_USAGE,
    });
  return streamMessages([
    messageStart({ ...MESSAGES_USAGE, output_tokens: 1 }),
    ...textBlock(0, 'Hello'),
    blockStart(1, { type: 'tool_use', ...CALL, input: {} }),
    blockDelta(1, { type: 'input_json_delta', partial_json: ARGUMENTS }),
    blockStop(1),
    messageDelta('tool_use', { output_tokens: TOKENS.made }),
    MESSAGE_STOP,
  ])(request, response);
};

const answerInGemini: StubHandler = (request, response) => {
  const part = (members: object): object => ({ content: { role: 'model', parts: [members] }, index: 0 });
  const call = { functionCall: { id: CALL.id, name: CALL.name, args: CALL.input } };
  if (!request.path.includes('stream'))
    return sendJson(response, 200, {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hello' }, call] }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: GEMINI_USAGE,
    });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of [
    { candidates: [part({ text: 'Hello' })] },
    { candidates: [{ ...part(call), finishReason: 'STOP' }], usageMetadata: GEMINI_USAGE },
  ])
    response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
  response.end();
};

const answerInConverse: StubHandler = (request, response) => {
  const toolUse = { toolUseId: CALL.id, name: CALL.name };
  if (!request.path.endsWith('converse-stream'))
    return sendJson(response, 200, {
      output: {
        message: {
          role: 'assistant',
          content: [{ text: 'Hello' }, { toolUse: { ...toolUse, input: CALL.input } }],
        },
      },
      stopReason: 'tool_use',
      usage: CONVERSE_USAGE,
    });
  return streamFrames(
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello' } }),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('contentBlockStart', { contentBlockIndex: 1, start: { toolUse } }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: ARGUMENTS } } }),
    eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
    eventFrame('messageStop', { stopReason: 'tool_use' }),
    eventFrame('metadata', { usage: CONVERSE_USAGE }),
  )(request, response);
};

const OUTPUT: readonly OutputSpec[] = [
  { type: 'message', deltas: ['Hello'] },
  { type: 'function_call', callId: CALL.id, name: CALL.name, deltas: [ARGUMENTS] },
];

const answerInResponses: StubHandler = (request, response) => {
  const items = OUTPUT.map((spec, index) => itemOf(spec, index));
  if (request.body['stream'] !== true)
    return sendJson(response, 200, responseObject('completed', items, { usage: RESPONSES_USAGE }));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(answerEvents(OUTPUT, { usage: RESPONSES_USAGE }).map(eventText).join(''));
};

export interface WiresApp {
  readonly app: TestApp;
  close(): Promise<void>;
}

export async function startWiresApp(): Promise<WiresApp> {
  const chat = await startStubUpstream(answerInChat);
  const anthropic = await startMessagesStub();
  const openai = await startResponsesStub();
  const google = await startGeminiStub();
  const bedrock = await startBedrockStub();
  anthropic.answerWith((request, response) => void answerInMessages(request, response));
  openai.answerWith((request, response) => void answerInResponses(request, response));
  google.answerWith(answerInGemini);
  bedrock.answerWith((request, response) => void answerInConverse(request, response));
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
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
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
      },
    }),
  );
  const stubs: readonly StubUpstream[] = [chat, anthropic, openai, google, bedrock];
  return {
    app,
    close: async () => {
      await app.close();
      for (const stub of stubs) await stub.close();
    },
  };
}
