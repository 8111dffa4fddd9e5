// The bodies that Gemini's wire makes of requests, each checked as Google would check it.
import { expect } from '@jest/globals';
import type { ChatEndpoint } from '../../../src/domain/chat/chat-model.js';
import type { ChatRequest } from '../../../src/domain/chat/chat-request.js';
import { google } from '../../../src/providers/google.js';
import type { ChatWire } from '../../../src/providers/shared/chat-wire.js';
import { chatEndpoint, readBody } from '../chat-providers/send-chat.js';
import type { SentChat } from '../chat-providers/send-chat.js';
import { problemOf } from './gemini-checks.js';

export const GEMINI_3 = 'gemini-3-stub';
export const GEMINI_25 = 'gemini-2.5-stub';
const CONNECTION = { baseUrl: 'http://127.0.0.1:1/v1beta', apiKey: 'key' };

export function geminiWire(): ChatWire {
  const wire = google.otherWires?.find(({ protocol }) => protocol === 'gemini');
  if (wire === undefined) throw new Error('Google speaks its own wire');
  return wire;
}

export function geminiEndpoint(overrides: Partial<ChatEndpoint> = {}): ChatEndpoint {
  return chatEndpoint('google', {
    upstreamModel: GEMINI_3,
    isReasoning: true,
    reasoningEfforts: ['minimal', 'low', 'medium', 'high'],
    ...overrides,
  });
}

/** Of Chat's members, or of a request that is read. */
export async function builtGemini(
  members: object,
  endpoint: Partial<ChatEndpoint> = {},
  request: ChatRequest = readBody(members),
): Promise<SentChat> {
  const call = { request, endpoint: geminiEndpoint(endpoint), maxOutputTokens: request.maxOutputTokens };
  const built = await geminiWire().buildRequest(call, CONNECTION);
  const text = Buffer.concat(built.body).toString();
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(problemOf(body, call.endpoint.upstreamModel)).toBeNull();
  return { ...built, text, body };
}
