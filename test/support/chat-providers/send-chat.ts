// Sends a caller's chat body through a provider's wire to its stub, as the service does.
import { request as send } from 'undici';
import { readChatRequest } from '../../../src/chat/request/read-chat-request.js';
import type { ChatEndpoint } from '../../../src/domain/chat/chat-model.js';
import type { ChatRequest } from '../../../src/domain/chat/chat-request.js';
import { findProvider } from '../../../src/providers/index.js';
import type { ChatWire } from '../../../src/providers/shared/chat-wire.js';

const BODY = { model: 'vendor/model', messages: [{ role: 'user', content: 'hi' }] };

export function chatWireOf(slug: string): ChatWire {
  const provider = findProvider(slug);
  if (provider?.transport !== 'http' || !provider.chat) throw new Error(`${slug} has no chat models`);
  return provider.chat;
}

/** An endpoint that has everything a wire can send. */
export function chatEndpoint(provider: string, overrides: Partial<ChatEndpoint> = {}): ChatEndpoint {
  return {
    provider,
    upstreamModel: 'gpt-4o',
    contextLength: 128_000,
    maxOutputTokens: 1_000,
    supportedParameters: (
      'tools tool_choice response_format structured_outputs n logprobs parallel_tool_calls top_k min_p top_a ' +
      'repetition_penalty verbosity prediction service_tier reasoning'
    ).split(' '),
    inputModalities: ['text', 'image', 'audio', 'file'],
    reasoningEfforts: [],
    isReasoning: false,
    hidesReasoning: false,
    prices: [
      {
        effectiveFrom: '2026-01-01',
        source: 'a test',
        prompt: 1n,
        completion: 1n,
        serviceTiers: { flex: { prompt: 1n, completion: 1n } },
      },
    ],
    quantization: null,
    dataPolicy: { retainsPrompts: false, trains: false },
    ...overrides,
  };
}

export function readBody(members: object = {}): ChatRequest {
  return readText(JSON.stringify({ ...BODY, ...members }));
}

export function readText(text: string): ChatRequest {
  return readChatRequest(JSON.parse(text) as Record<string, unknown>, Buffer.from(text)).request;
}

export interface SentChat {
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly edits: readonly string[];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The body that the wire makes of the caller's members. */
export async function builtChat(
  slug: string,
  members: object = {},
  endpoint: ChatEndpoint = chatEndpoint(slug),
  connection = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: `key-of-${slug}` },
): Promise<SentChat> {
  const request = readBody(members);
  const call = { request, endpoint, maxOutputTokens: request.maxOutputTokens };
  const built = await chatWireOf(slug).buildRequest(call, connection);
  const text = Buffer.concat(built.body).toString();
  return { ...built, text, body: JSON.parse(text) as Record<string, unknown> };
}

export interface ChatExchange {
  readonly status: number;
  readonly body: Buffer;
  readonly sent: SentChat;
}

export async function exchangeChat(
  slug: string,
  baseUrl: string,
  members: object,
  endpoint: ChatEndpoint = chatEndpoint(slug),
): Promise<ChatExchange> {
  const sent = await builtChat(slug, members, endpoint, { baseUrl, apiKey: `key-of-${slug}` });
  const response = await send(sent.url, { method: 'POST', headers: sent.headers, body: sent.text });
  return { status: response.statusCode, body: Buffer.from(await response.body.arrayBuffer()), sent };
}
