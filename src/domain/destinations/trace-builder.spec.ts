import { describe, expect, it } from '@jest/globals';
import {
  createCandidate,
  createOpenDestination,
} from '../../../test/support/generations/generation-candidate.js';
import type { Destination } from './destination.js';
import { contentOf } from '../generations/generation-content.js';
import type { Generation } from '../generations/generation.js';
import { spanIdOf, traceIdOf } from '../generations/trace-ids.js';
import { buildTrace } from './trace-builder.js';

const WITHOUT_FLAGS = { broadcastCost: false, broadcastIdentity: false, broadcastRequestContext: false };

function traceOf(overrides: Parameters<typeof createCandidate>[0] = {}, rules: Partial<Destination> = {}) {
  return buildTrace(createCandidate(overrides), createOpenDestination(rules));
}

describe('a trace', () => {
  it('has all facts of a success', () => {
    const candidate = createCandidate({
      generation: {
        model: 'openai/text-embedding-3-small',
        endpoint: 'azure/deployments/small',
        provider: 'azure',
        upstreamId: 'upstream-1',
        inputCount: 2,
        promptTokens: 9,
        totalTokens: 12,
        cost: 180_000n,
        upstreamCost: 170_000n,
        dimensions: 256,
        encodingFormat: 'base64',
        inputType: 'passage',
        durationMs: 42,
        upstreamMs: 40,
        userId: 'customer-7',
        sessionId: 'session-9',
        requestId: 'request-1',
        trace: { trace_name: 'Checkout', span_name: 'Embed', environment: 'production' },
        requestContext: { userAgent: 'client/1.0', referer: 'https://app.example.com', title: 'App' },
        attempts: [
          {
            provider: 'openai',
            endpoint: 'openai/small',
            status: 429,
            errorType: 'overloaded',
            durationMs: 2,
          },
          {
            provider: 'azure',
            endpoint: 'azure/deployments/small',
            status: 200,
            errorType: null,
            durationMs: 38,
          },
        ],
      },
      content: contentOf({ form: 'texts', items: ['one', 'two'] }, null),
    });
    const destination = createOpenDestination();
    const { generation } = candidate;
    expect(buildTrace(candidate, destination)).toEqual({
      generationId: generation.id,
      traceId: generation.id.replaceAll('-', ''),
      spanId: spanIdOf(destination.id, generation.id),
      parentSpanId: null,
      chat: null,
      rerank: null,
      callerTraceId: null,
      traceName: 'Checkout',
      spanName: 'Embed',
      startedAt: new Date('2026-11-18T12:00:00.000Z'),
      endedAt: new Date('2026-11-18T12:00:00.042Z'),
      durationMs: 42,
      operation: 'embeddings',
      model: 'openai/text-embedding-3-small',
      upstreamModel: 'deployments/small',
      provider: 'azure',
      upstreamId: 'upstream-1',
      status: 200,
      error: null,
      inputCount: 2,
      promptTokens: 9,
      totalTokens: 12,
      cost: 1.8e-7,
      isByok: false,
      dimensions: 256,
      encodingFormat: 'base64',
      inputType: 'passage',
      workspaceId: generation.workspaceId,
      apiKeyName: 'Search service',
      creatorUserId: 'user-42',
      userId: 'customer-7',
      sessionId: 'session-9',
      metadata: { environment: 'production' },
      facts: {
        usage: 1.8e-7,
        usage_upstream: 1.7e-7,
        byok_usage_inference: 0,
        is_byok: false,
        tokens_prompt: 9,
        tokens_completion: 0,
        external_user: 'customer-7',
        user_id: 'customer-7',
        creator_user_id: 'user-42',
        api_key_name: 'Search service',
        api_key_hash: 'a'.repeat(64),
        workspace_id: generation.workspaceId,
        request_id: 'request-1',
        data_region: 'global',
        api_type: 'embeddings',
        encoding_format: 'base64',
        dimensions: 256,
        input_count: 2,
        input_type: 'passage',
        generation_time: 40,
        upstream_id: 'upstream-1',
        http_referer: 'https://app.example.com',
        user_agent: 'client/1.0',
        title: 'App',
      },
      input: { items: ['one', 'two'], isTruncated: false },
      attempts: generation.attempts,
    });
  });

  it('omits unknown values', () => {
    const trace = traceOf({
      generation: {
        endpoint: null,
        provider: null,
        cost: null,
        upstreamCost: null,
        dimensions: null,
        upstreamMs: null,
        userId: '',
        sessionId: '',
      },
      key: { creatorUserId: null, externalUser: null },
    });
    expect(trace).toMatchObject({
      spanName: 'embeddings openai/text-embedding-3-small',
      traceName: null,
      upstreamModel: null,
      provider: null,
      cost: null,
      creatorUserId: null,
      userId: null,
      sessionId: null,
      input: null,
      metadata: {},
    });
    expect(Object.keys(trace.facts)).toEqual([
      'byok_usage_inference',
      'is_byok',
      'tokens_prompt',
      'tokens_completion',
      'api_key_name',
      'api_key_hash',
      'workspace_id',
      'request_id',
      'data_region',
      'api_type',
      'encoding_format',
      'input_count',
    ]);
  });

  it('has the failure, with its message if that is stored', () => {
    const failure: Partial<Generation> = { status: 502, errorType: 'provider_unavailable' };
    const content = contentOf({ form: 'texts', items: ['one'] }, 'It said no');
    expect(traceOf({ generation: failure, content }).error).toEqual({
      type: 'provider_unavailable',
      message: 'It said no',
    });
    expect(traceOf({ generation: failure }).error).toEqual({ type: 'provider_unavailable', message: null });
    expect(traceOf({ generation: { status: 500, errorType: null } }).error).toEqual({
      type: '_OTHER',
      message: null,
    });
  });

  it.each([
    [{ generation_name: 'Generation', span_name: 'Span' }, 'Generation'],
    [{ generation_name: '', span_name: 'Span' }, 'Span'],
    [{ trace_name: 'Trace', span_name: 'Span' }, 'Span'],
    [{ trace_name: 'Trace' }, 'Trace'],
    [{ span_name: { no: 'text' } }, 'embeddings openai/text-embedding-3-small'],
  ])('of a call with %j is named %s', (trace, name) => {
    expect(traceOf({ generation: { trace } }).spanName).toBe(name);
  });

  it('has a span id of its own in every destination, and the same trace id in all', () => {
    const candidate = createCandidate();
    const one = buildTrace(candidate, createOpenDestination());
    const other = buildTrace(
      candidate,
      createOpenDestination({ id: '0193a1b2-0000-7000-8000-0000000000ff' }),
    );
    expect(one.spanId).not.toBe(other.spanId);
    expect(one.traceId).toBe(other.traceId);
  });

  it('names the end user of the request, else that of the key', () => {
    expect(traceOf({ generation: { userId: 'customer-7' } }).facts['external_user']).toBe('customer-7');
    const { facts } = traceOf({ generation: { userId: null } });
    expect(facts['external_user']).toBe('tenant-7');
    expect(facts).not.toHaveProperty('user_id');
  });

  it("has the provider's charge to the owner of own keys", () => {
    const { facts, cost } = traceOf({
      generation: { isByok: true, cost: 10n ** 9n, upstreamCost: 10n ** 10n },
    });
    expect(cost).toBe(0.001);
    expect(facts).toMatchObject({
      usage: 0.001,
      usage_upstream: 0.01,
      byok_usage_inference: 0.01,
      is_byok: true,
    });
  });

  it('bounds every text of a caller or provider', () => {
    const long = 'x'.repeat(20_000);
    const trace = traceOf({
      generation: {
        userId: long,
        sessionId: long,
        inputType: long,
        upstreamId: long,
        trace: { trace_id: long, trace_name: long, span_name: long, other: long },
        requestContext: { userAgent: long, referer: long, title: long },
      },
      key: { name: long, creatorUserId: long, externalUser: long },
    });
    expect(JSON.stringify({ ...trace, metadata: {} }).length).toBeLessThan(20_000);
    expect(trace.metadata['other']).toHaveLength(16_384);
    expect(trace.traceId).toBe(
      traceIdOf(createCandidate({ generation: { trace: { trace_id: long } } }).generation),
    );
  });
});

describe('the flags of a destination', () => {
  const FLAGS = ['broadcastCost', 'broadcastIdentity', 'broadcastRequestContext'] as const;
  const OWN_FACT = {
    broadcastCost: 'usage',
    broadcastIdentity: 'api_key_hash',
    broadcastRequestContext: 'request_id',
  };

  it('each add their own facts, and together all of them', () => {
    for (const set of [
      [],
      ['broadcastCost'],
      ['broadcastIdentity'],
      ['broadcastRequestContext'],
      FLAGS,
    ] as const) {
      const { facts } = traceOf(
        {},
        Object.fromEntries(FLAGS.map((flag) => [flag, (set as readonly string[]).includes(flag)])),
      );
      for (const flag of FLAGS) {
        expect(OWN_FACT[flag] in facts).toBe((set as readonly string[]).includes(flag));
      }
    }
    const alone = FLAGS.flatMap((flag) => Object.keys(traceOf({}, { ...WITHOUT_FLAGS, [flag]: true }).facts));
    expect(alone).toEqual(Object.keys(traceOf().facts));
    expect(new Set(alone).size).toBe(alone.length);
  });

  it('change nothing else', () => {
    const candidate = createCandidate();
    const withAll = buildTrace(candidate, createOpenDestination());
    const withNone = buildTrace(candidate, createOpenDestination(WITHOUT_FLAGS));
    expect(withNone).toEqual({ ...withAll, facts: {} });
  });
});
