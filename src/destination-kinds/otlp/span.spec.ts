import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import type { SentSpan } from '../../../test/support/deliveries/otlp-span.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { Attribute } from './any-value.js';
import { GENERIC_SPAN } from './generic-span.js';
import { WIDE_BOUNDS, spanWriter } from './span.js';
import type { SpanBounds } from './span.js';

function spanOf(overrides: Partial<GenerationTrace>, bounds: Partial<SpanBounds> = {}): SentSpan {
  const write = spanWriter({ ...GENERIC_SPAN, bounds: { ...WIDE_BOUNDS, ...bounds } });
  return JSON.parse(write(generationTrace(1, overrides))) as SentSpan;
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const attributesOf = (overrides: Partial<GenerationTrace>): Record<string, unknown> =>
  valuesOf(spanOf(overrides).attributes);

describe('a span', () => {
  it('has its times in nanoseconds as text', () => {
    expect(spanOf({})).toMatchObject({
      startTimeUnixNano: '1795255200001000000',
      endTimeUnixNano: '1795255200043000000',
    });
  });

  it('has a parent only if the caller named one', () => {
    expect(spanOf({})).not.toHaveProperty('parentSpanId');
    expect(spanOf({ parentSpanId: '00f067aa0ba902b7' })).toHaveProperty('parentSpanId', '00f067aa0ba902b7');
  });

  it('reports a failure by its status, an attribute and an event', () => {
    const span = spanOf({ error: { type: 'provider_timeout', message: 'no answer' } });
    expect(span.status).toEqual({ code: 2, message: 'no answer' });
    expect(valuesOf(span.attributes)).toMatchObject({
      'error.type': 'provider_timeout',
      'span.level': 'ERROR',
    });
    expect(span.events).toHaveLength(1);
    expect(span.events?.[0]).toMatchObject({ name: 'exception', timeUnixNano: '1795255200043000000' });
    expect(valuesOf(span.events![0]!.attributes)).toEqual({
      'exception.type': 'provider_timeout',
      'exception.message': 'no answer',
    });
  });

  it('has the type instead of a message that is private', () => {
    const span = spanOf({ error: { type: 'provider_timeout', message: null } });
    expect(span.status).toEqual({ code: 2, message: 'provider_timeout' });
    expect(valuesOf(span.events![0]!.attributes)).toEqual({ 'exception.type': 'provider_timeout' });
  });

  it('has no error and no event for a success', () => {
    expect(spanOf({}).status).toEqual({ code: 1 });
    expect(spanOf({})).not.toHaveProperty('events');
    expect(attributesOf({})).not.toHaveProperty(['error.type']);
  });
});

describe('the attributes of a span', () => {
  it.each([
    ['openai', 'openai'],
    ['azure', 'azure.ai.openai'],
    ['bedrock', 'aws.bedrock'],
    ['google', 'gcp.gemini'],
    ['mistral', 'mistral_ai'],
    ['cohere', 'cohere'],
    ['my-own', 'my-own'],
  ])('name the provider %s %s, and keep its slug', (provider, name) => {
    expect(attributesOf({ provider })).toMatchObject({
      'gen_ai.provider.name': name,
      'gen_ai.system': name,
      'trace.metadata.openrouter.provider_slug': provider,
    });
  });

  it('name no provider when none was reached', () => {
    expect(
      Object.keys(attributesOf({ provider: null })).filter((name) => /provider|system/.test(name)),
    ).toEqual([]);
  });

  it('list the attempts when there was more than one', () => {
    const attempt = generationTrace().attempts[0]!;
    const name = 'trace.metadata.openrouter.attempts';
    expect(attributesOf({ attempts: [attempt] })).not.toHaveProperty([name]);
    const attempts = [{ ...attempt, status: 503, errorType: 'overloaded' }, attempt];
    expect(JSON.parse(String(attributesOf({ attempts })[name]))).toEqual(attempts);
  });

  it('keep the caller’s scalars unchanged, and write other values as JSON', () => {
    const metadata = {
      text: 'a',
      whole: 7,
      part: 0.5,
      huge: 2 ** 60,
      yes: true,
      no: null,
      list: [1],
      empty: {},
    };
    const span = spanOf({ metadata });
    const own = span.attributes.filter(({ key }) => /^trace\.metadata\.\w+$/.test(key));
    expect(own.map(({ key, value }) => [key.slice('trace.metadata.'.length), value])).toEqual([
      ['text', { stringValue: 'a' }],
      ['whole', { intValue: '7' }],
      ['part', { doubleValue: 0.5 }],
      ['huge', { doubleValue: 2 ** 60 }],
      ['yes', { boolValue: true }],
      ['list', { stringValue: '[1]' }],
      ['empty', { stringValue: '{}' }],
    ]);
  });

  it('keep whole amounts doubles', () => {
    const { attributes } = spanOf({ cost: 0 });
    expect(attributes.find(({ key }) => key === 'gen_ai.usage.cost')?.value).toEqual({ doubleValue: 0 });
  });

  it('do not let a caller’s key replace a fact of the service', () => {
    const metadata = {
      'openrouter.api_key_name': 'forged',
      'openrouter_generation.usage': 0,
      openrouter: 'forged',
      openrouter_generation: 'forged',
      openrouter_like: 'kept',
    };
    const attributes = attributesOf({ metadata, facts: {} });
    expect(Object.values(attributes)).not.toContain('forged');
    expect(attributes).toHaveProperty(['trace.metadata.openrouter.api_key_name'], 'Search service');
    expect(attributes).not.toHaveProperty(['trace.metadata.openrouter_generation.usage']);
    expect(attributes).toHaveProperty(['trace.metadata.openrouter_like'], 'kept');
  });

  it('have the caller’s tags if they are texts', () => {
    expect(attributesOf({ metadata: { tags: ['a', 'b'] } })).toHaveProperty(['trace.tags'], {
      values: [{ stringValue: 'a' }, { stringValue: 'b' }],
    });
    for (const tags of [undefined, 'a', [], ['a', 7], {}]) {
      expect(attributesOf({ metadata: { tags } })).not.toHaveProperty(['trace.tags']);
    }
  });
});

describe('the content of a span', () => {
  it('has all its names while it is short', () => {
    const text = '{"input":["short"]}';
    expect(attributesOf({ input: { items: ['short'], isTruncated: false } })).toMatchObject({
      'gen_ai.prompt': text,
      'trace.input': text,
      'span.input': text,
    });
  });

  it('has the first name only when it is long', () => {
    const attributes = attributesOf({ input: { items: ['x'.repeat(20_000)], isTruncated: false } });
    expect(attributes['gen_ai.prompt']).toHaveLength(20_014);
    expect(attributes).not.toHaveProperty(['trace.input']);
    expect(attributes).not.toHaveProperty(['span.input']);
  });

  it('is marked when a part of it is missing, wherever it was cut', () => {
    const mark = ['trace.metadata.openrouter.input_truncated'];
    expect(attributesOf({})).not.toHaveProperty(mark);
    expect(attributesOf({ input: { items: ['x'], isTruncated: true } })).toHaveProperty(mark, true);
    const cut = spanOf({ input: { items: ['x'.repeat(500)], isTruncated: false } }, { maxInputLength: 100 });
    expect(valuesOf(cut.attributes)).toHaveProperty(mark, true);
    expect(valuesOf(cut.attributes)['gen_ai.prompt']).toHaveLength(100);
  });

  it('is absent when there is none', () => {
    const attributes = attributesOf({ input: null });
    for (const name of ['gen_ai.prompt', 'trace.input', 'span.input']) {
      expect(attributes).not.toHaveProperty([name]);
    }
  });
});

describe('the bounds of a span', () => {
  it('drop the last attributes and those with long names, and count them', () => {
    const metadata = { short: 1, ['n'.repeat(80)]: 2, other: 3, last: 4 };
    const unbounded = spanOf({ metadata }).attributes.length;
    const span = spanOf({ metadata }, { maxAttributes: unbounded - 2, maxNameLength: 60 });
    expect(span.attributes).toHaveLength(unbounded - 2);
    expect(span.droppedAttributesCount).toBe(2);
    expect(span.attributes.at(-1)?.key).toBe('trace.metadata.other');
    expect(spanOf({ metadata })).not.toHaveProperty('droppedAttributesCount');
  });

  it('cut values, list entries, names and messages', () => {
    const metadata = { long: 'v'.repeat(300), tags: ['t'.repeat(300), 'b', 'c'] };
    const error = { type: 'failed', message: 'm'.repeat(300) };
    const span = spanOf(
      { metadata, error, spanName: 's'.repeat(300) },
      { maxValueLength: 200, maxArrayLength: 2 },
    );
    const attributes = valuesOf(span.attributes);
    expect(attributes['trace.metadata.long']).toHaveLength(200);
    expect(attributes['trace.tags']).toEqual({
      values: [{ stringValue: 't'.repeat(200) }, { stringValue: 'b' }],
    });
    expect(span.name).toHaveLength(200);
    expect(span.status.message).toHaveLength(200);
    expect(valuesOf(span.events![0]!.attributes)['exception.message']).toHaveLength(200);
  });
});
