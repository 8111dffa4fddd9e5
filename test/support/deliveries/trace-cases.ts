// Traces that have made encoders stumble, each under the name of what is odd about it.
import type { GenerationTrace } from '../../../src/domain/generations/generation-trace.js';
import { CHAT_CASES } from './chat-traces.js';
import { generationTrace } from './generation-trace.js';
import { RERANK_CASES } from './rerank-traces.js';

const KIBIBYTE = 1024;

/** Everything that may be unknown is unknown. */
const barest: Partial<GenerationTrace> = {
  parentSpanId: null,
  callerTraceId: null,
  traceName: null,
  upstreamModel: null,
  provider: null,
  upstreamId: null,
  error: null,
  cost: null,
  dimensions: null,
  inputType: null,
  creatorUserId: null,
  userId: null,
  sessionId: null,
  metadata: {},
  facts: {},
  input: null,
  attempts: [],
};

/** The facts that the three flags of a destination add. */
export const ALL_FACTS: GenerationTrace['facts'] = {
  usage: 0.00000018,
  usage_upstream: 0.00000018,
  is_byok: false,
  tokens_prompt: 9,
  external_user: 'customer-7',
  api_key_hash: 'f00d'.repeat(16),
  request_id: 'request-1',
  user_agent: 'client/1.0',
  region: 'global',
  upstream_ms: 40,
};

const nested = (depth: number): unknown => (depth === 0 ? 'the bottom' : { deeper: nested(depth - 1) });

export const TRACE_CASES: Readonly<Record<string, Partial<GenerationTrace>>> = {
  'an ordinary one': {},
  'nothing known that may be unknown': barest,
  'everything known that may be unknown': {
    parentSpanId: '00f067aa0ba902b7',
    callerTraceId: 'checkout/2026-11-21/77',
    traceName: 'Checkout',
    spanName: 'Embed the query',
    isByok: true,
    facts: ALL_FACTS,
  },
  'a failure after two attempts': {
    ...barest,
    provider: 'azure',
    upstreamModel: 'text-embedding-3-small',
    status: 502,
    error: { type: 'provider_error', message: 'The upstream said:\n"500" <html>\u0007' },
    promptTokens: 0,
    totalTokens: 0,
    attempts: [
      { provider: 'openai', endpoint: 'openai/e', status: 429, errorType: 'rate_limited', durationMs: 3 },
      {
        provider: 'azure',
        endpoint: 'azure/e',
        status: null,
        errorType: 'provider_timeout',
        durationMs: 30_000,
      },
    ],
  },
  'a failure before any provider, without its message': {
    ...barest,
    status: 503,
    error: { type: 'no_endpoint', message: null },
    durationMs: 0,
  },
  'token ids as input': { input: { items: [[1, 2, 3], [], [100_256]], isTruncated: false } },
  'no inputs left': { input: { items: [], isTruncated: true } },
  'inputs that were cut': { input: { items: ['the beg', ''], isTruncated: true } },
  'texts of all the world': {
    spanName: 'ｅｍｂｅｄ 🏳️‍🌈 \u202e',
    userId: 'ユーザー‑7 "quoted" \\ back',
    sessionId: 'sitzung/ß\t7',
    apiKeyName: '../../Ключ <b>№1</b>',
    traceName: "Naïve café'); DROP TABLE traces;--",
    metadata: { 'ключ 🔑': 'значение\u0000\u2028', 'a.b.c': 'dots', 'trailing ': ' spaces ' },
    input: {
      items: ['日本語', '\u0000\u001f\u007f', '\ud800 alone', '\ufeff{"json":true}'],
      isTruncated: false,
    },
  },
  'names of a thousand characters': {
    spanName: 'n'.repeat(1000),
    traceName: 't'.repeat(1000),
    callerTraceId: 'c'.repeat(1000),
    userId: 'u'.repeat(1000),
    sessionId: 's'.repeat(1000),
    apiKeyName: 'k'.repeat(1000),
  },
  'half an emoji at every place': {
    spanName: 'embed \ud83d',
    traceName: '\ude42 trace',
    userId: 'user \ud83d',
    sessionId: 'session \ud83d',
    metadata: { 'key \ud83d': 'value \ude42', tags: ['tag \ud83d'] },
    input: { items: ['text \ud83d'], isTruncated: false },
  },
  'metadata of odd keys': {
    metadata: JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":"x","prototype":1,"toString":null,"":"empty key","id":7}',
    ) as Record<string, unknown>,
  },
  'metadata of every JSON type': {
    metadata: {
      integer: 7,
      huge: 1e300,
      fraction: 0.1,
      beyond: 2 ** 60,
      negative: -1,
      yes: true,
      nothing: null,
      list: [1, 'two', null, { three: 3 }],
      empty: {},
    },
  },
  'metadata of a thousand keys': {
    metadata: Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`key-${index}`, `value ${index}`] as const),
    ),
  },
  'metadata of a hundred levels': { metadata: { deep: nested(100) } },
  'metadata of long keys and values': {
    metadata: {
      ['k'.repeat(1000)]: 'short',
      long: 'v'.repeat(16 * KIBIBYTE),
      'long-too': ['w'.repeat(8 * KIBIBYTE)],
    },
  },
  '256 KiB of content': { input: { items: ['x'.repeat(256 * KIBIBYTE)], isTruncated: true } },
  '256 KiB of content in many inputs': {
    inputCount: 2048,
    input: { items: Array.from({ length: 2048 }, () => 'x'.repeat(128)), isTruncated: false },
  },
  '256 KiB of content that grows when it is escaped': {
    input: { items: ['"\\\u0001'.repeat((256 * KIBIBYTE) / 3)], isTruncated: true },
  },
  ...CHAT_CASES,
  ...RERANK_CASES,
};

/** One trace of every case, each with ids of its own. */
export function tracesOfAllCases(): GenerationTrace[] {
  return Object.values(TRACE_CASES).map((overrides, index) => generationTrace(index + 1, overrides));
}
