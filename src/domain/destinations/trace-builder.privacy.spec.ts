// Privacy mode, and traces of any generation: well-formed, and without a text of the caller.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  createCandidate,
  createOpenDestination,
} from '../../../test/support/generations/generation-candidate.js';
import { CANARY_CALLS, canariesIn, canary, TOKEN_CANARIES } from '../../../test/support/app/canaries.js';
import type { Destination } from './destination.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { contentOf } from '../generations/generation-content.js';
import type { Generation } from '../generations/generation.js';
import { INPUT_TYPES } from '../embeddings/embedding.js';
import { buildTrace } from './trace-builder.js';

const PRIVATE: Partial<Destination> = { privacyMode: true };

function traceOf(overrides: Parameters<typeof createCandidate>[0] = {}, rules: Partial<Destination> = {}) {
  return buildTrace(createCandidate(overrides), createOpenDestination(rules));
}

describe('privacy mode', () => {
  it('keeps everything that is not free text', () => {
    const [, failure] = CANARY_CALLS[1]!;
    const open = buildTrace(failure, createOpenDestination());
    const closed = buildTrace(failure, createOpenDestination(PRIVATE));
    expect(closed).toEqual({
      ...open,
      callerTraceId: null,
      traceName: null,
      spanName: 'embeddings openai/text-embedding-3-small',
      upstreamId: null,
      inputType: null,
      error: { type: 'provider_unavailable', message: null },
      metadata: {},
      input: null,
      facts: Object.fromEntries(
        Object.entries(open.facts).filter(
          ([name]) => !['input_type', 'upstream_id', 'http_referer', 'user_agent', 'title'].includes(name),
        ),
      ),
    });
    // The trace and parent are the same as without privacy mode, so that spans still join.
    expect(closed.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(closed.parentSpanId).toMatch(/^[0-9a-f]{16}$/);
    expect(closed).toMatchObject({ userId: 'customer-7', sessionId: 'session-9' });
  });

  it('keeps the numbers, settings and known words of a chat', () => {
    const [, chat] = CANARY_CALLS.find(([name]) => name === 'a chat')!;
    const open = buildTrace(chat, createOpenDestination());
    const closed = buildTrace(chat, createOpenDestination(PRIVATE));
    expect(closed.spanName).toBe('chat openai/gpt-4.1-mini');
    expect(closed.chat).toEqual({
      ...open.chat,
      content: null,
      nativeFinishReason: null,
      serviceTier: null,
    });
    expect(closed.chat).toMatchObject({
      finishReason: 'stop',
      completionTokens: 40,
      parameters: { seed: 7, tool_choice: 'function', tool_count: 1, response_format: 'json_schema' },
    });
    expect(closed.attempts).toEqual([
      { provider: 'openai', endpoint: 'openai/e', status: 200, errorType: null, durationMs: 3 },
    ]);
  });

  it('keeps a known input type, and an id with the form of one', () => {
    for (const inputType of INPUT_TYPES) {
      expect(traceOf({ generation: { inputType } }, PRIVATE).inputType).toBe(inputType);
    }
    for (const upstreamId of ['chatcmpl-0a:b.c_d', '0193a1b2-c3d4-7000-8000-0123456789ab']) {
      expect(traceOf({ generation: { upstreamId } }, PRIVATE).upstreamId).toBe(upstreamId);
    }
    for (const upstreamId of ['', 'my secret', 'x'.repeat(129), 'a\n']) {
      expect(traceOf({ generation: { upstreamId } }, PRIVATE).upstreamId).toBeNull();
    }
  });

  it.each(CANARY_CALLS)('has no canary of %s', (_name, call) => {
    expect(canariesIn(JSON.stringify(buildTrace(call, createOpenDestination(PRIVATE))))).toEqual([]);
  });

  it('removes texts that are present without it', () => {
    const sent = CANARY_CALLS.flatMap(([, call]) =>
      canariesIn(JSON.stringify(buildTrace(call, createOpenDestination()))),
    );
    const members = [
      'Text',
      'SecondText',
      'TextPart',
      'Error',
      'InputType',
      'UpstreamId',
      'UserAgent',
      'Referer',
      'Title',
      'TraceId',
      'TraceName',
      'GenerationName',
      'Environment',
      'Key',
      'NestedKey',
      'Nested',
      'Inherited',
      'System',
      'ChatText',
      'MessageName',
      'ToolResult',
      'ToolName',
      'ToolText',
      'CallId',
      'CallName',
      'CallArguments',
      'Stop',
      'Schema',
      'Answer',
      'Reasoning',
      'Refusal',
      'Native',
      'Tier',
      'Member',
    ];
    const expected = [
      ...members.map((member) => canary(member).toLowerCase()),
      ...TOKEN_CANARIES.map(String),
    ];
    expect([...new Set(sent)].toSorted()).toEqual(expected.toSorted());
  });
});

describe('any generation', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\ud800', '\0', '🙂'.repeat(2_000)),
  );
  const planted = anyText.map((text) => `${text}${canary('Any')}${text}`);
  const textOrNone = fc.option(planted, { nil: null });
  const counts = fc.nat();
  const amounts = fc.option(fc.bigInt({ min: 0n, max: 10n ** 24n }), { nil: null });
  const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      planted,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(planted, tie('value'), { maxKeys: 3 }),
  })).value;
  const traces = fc.option(
    fc.dictionary(
      fc.oneof(
        planted,
        fc.constantFrom(
          'trace_id',
          'trace_name',
          'span_name',
          'generation_name',
          'parent_span_id',
          '__proto__',
        ),
      ),
      json,
    ),
    { nil: null },
  );
  const generations = fc.record<Partial<Generation>>({
    id: fc.uuid(),
    endpoint: fc.constantFrom(null, 'azure/a/b', 'odd'),
    provider: fc.constantFrom(null, 'azure'),
    upstreamId: textOrNone.map((text) => text && `said ${text}`),
    status: fc.constantFrom(200, 400, 524),
    errorType: fc.constantFrom(null, 'timeout'),
    inputCount: counts,
    promptTokens: counts,
    totalTokens: counts,
    cost: amounts,
    upstreamCost: amounts,
    isByok: fc.boolean(),
    dimensions: fc.option(counts, { nil: null }),
    inputType: textOrNone,
    durationMs: counts,
    upstreamMs: fc.option(counts, { nil: null }),
    trace: traces,
    requestContext: fc.option(
      fc.record({ userAgent: planted, referer: planted, title: planted }, { requiredKeys: [] }),
      { nil: null },
    ),
  });
  const contents = fc.option(
    fc
      .tuple(fc.array(planted, { maxLength: 3 }), textOrNone)
      .map(([items, error]) => contentOf({ form: 'texts', items }, error)),
    { nil: null },
  );
  const candidates: fc.Arbitrary<GenerationCandidate> = fc
    .record({
      generation: generations,
      key: fc.record({
        name: anyText,
        creatorUserId: fc.option(anyText, { nil: null }),
        externalUser: fc.option(anyText, { nil: null }),
      }),
      content: contents,
    })
    .map((overrides) => createCandidate(overrides));
  const destinations = fc
    .record({
      id: fc.uuid(),
      broadcastCost: fc.boolean(),
      broadcastIdentity: fc.boolean(),
      broadcastRequestContext: fc.boolean(),
    })
    .map((overrides) => createOpenDestination(overrides));

  it('becomes a trace of well-formed texts, and the same trace again', () => {
    fc.assert(
      fc.property(candidates, destinations, fc.boolean(), (candidate, destination, privacyMode) => {
        const trace = buildTrace(candidate, { ...destination, privacyMode });
        const sent = JSON.stringify(trace);
        // JSON escapes only lone surrogates by their number.
        expect(sent).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        expect(JSON.stringify(buildTrace(candidate, { ...destination, privacyMode }))).toBe(sent);
        expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
        expect(trace.spanId).toMatch(/^[0-9a-f]{16}$/);
        expect(trace.endedAt.getTime() - trace.startedAt.getTime()).toBe(trace.durationMs);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves no word of it in a trace in privacy mode', () => {
    let found = 0;
    let runs = 0;
    fc.assert(
      fc.property(candidates, destinations, (candidate, destination) => {
        runs += 1;
        expect(
          canariesIn(JSON.stringify(buildTrace(candidate, { ...destination, privacyMode: true }))),
        ).toEqual([]);
        found += canariesIn(JSON.stringify(buildTrace(candidate, destination))).length;
      }),
      { numRuns: 300 },
    );
    // The word is present without privacy mode.
    expect(found).toBeGreaterThan(runs / 3);
  });
});
