// Behaviour of single OTLP kinds.
import { describe, expect, it } from '@jest/globals';
import { TOOLS_CHAT } from '../../../test/support/deliveries/chat-traces.js';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { CONTEXT, requestOf, sentTo } from '../../../test/support/deliveries/otlp-requests.js';
import { createChatFacts } from '../../../test/support/generations/chat-generation.js';
import {
  createCandidate,
  createOpenDestination,
} from '../../../test/support/generations/generation-candidate.js';
import type { DestinationConfig } from '../../domain/destinations/destination.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { buildTrace } from '../../domain/destinations/trace-builder.js';
import { parseConfig } from '../shared/destination-kind.js';
import type { DeliveryOutcome, DeliveryRequest } from '../shared/delivery.js';
import { requireDestinationKind } from '../index.js';

async function outcomeOf(type: string, status: number, body: string): Promise<DeliveryOutcome> {
  const kind = requireDestinationKind(type);
  const request = await requestOf(type);
  const response = { status, headers: {}, body: Buffer.from(body) };
  return kind.delivery.read(response, request, parseConfig(kind, kind.example), CONTEXT);
}

describe('the address', () => {
  it.each<[string, DestinationConfig, string]>([
    ['arize', {}, 'https://otlp.arize.com/v1/traces'],
    [
      'arize',
      { baseUrl: 'https://otlp.eu-west-1a.arize.com/v1' },
      'https://otlp.eu-west-1a.arize.com/v1/traces',
    ],
    ['grafana', {}, 'https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces'],
    ['grafana', { baseUrl: 'https://g.example.com/otlp/' }, 'https://g.example.com/otlp/v1/traces'],
    ['langfuse', {}, 'https://us.cloud.langfuse.com/api/public/otel/v1/traces'],
    [
      'langfuse',
      { baseUrl: 'https://lf.example.com/api/public/otel' },
      'https://lf.example.com/api/public/otel/v1/traces',
    ],
    ['langsmith', {}, 'https://api.smith.langchain.com/otel/v1/traces'],
    [
      'langsmith',
      { endpoint: 'https://ls.example.com/api/v1' },
      'https://ls.example.com/api/v1/otel/v1/traces',
    ],
    ['newrelic', {}, 'https://otlp.nr-data.net/v1/traces'],
    ['newrelic', { region: 'eu' }, 'https://otlp.eu01.nr-data.net/v1/traces'],
    ['otel-collector', { endpoint: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
    ['otel-collector', { endpoint: 'http://collector:4318/' }, 'http://collector:4318/v1/traces'],
    ['otel-collector', { endpoint: 'https://c.example.com/in/' }, 'https://c.example.com/in/'],
    ['otel-collector', { endpoint: 'c.example.com/in?k=v' }, 'https://c.example.com/in?k=v'],
    ['ramp', {}, 'https://api.ramp.com/developer/v1/ai-usage/openrouter'],
    [
      'sentry',
      { otlpEndpoint: 'https://o1.ingest.sentry.io/api/42/integration/otlp' },
      'https://o1.ingest.sentry.io/api/42/integration/otlp/v1/traces',
    ],
    [
      'sentry',
      { otlpEndpoint: 'https://o1.ingest.sentry.io/api/42' },
      'https://o1.ingest.sentry.io/api/42/integration/otlp/v1/traces',
    ],
    ['webhook', { url: ' https://example.com/in/?k=v ' }, 'https://example.com/in/?k=v'],
  ])('of %s with %j is %s', async (type, config, address) => {
    const kind = requireDestinationKind(type);
    expect((await requestOf(type, config)).url).toBe(address);
    expect(kind.delivery.addresses(parseConfig(kind, { ...kind.example, ...config }))).toEqual([address]);
  });

  it.each(['otel-collector', 'webhook', 'sentry', 'grafana'])(
    'of %s may be missing, and is then empty',
    async (type) => {
      const request = await requestOf(type, { endpoint: '', url: '', otlpEndpoint: '', baseUrl: '' });
      expect(URL.canParse(request.url)).toBe(false);
    },
  );
});

describe('the answers', () => {
  it.each<[string, number, DeliveryOutcome['outcome']]>([
    ['arize', 202, 'delivered'],
    ['grafana', 204, 'delivered'],
    ['langsmith', 202, 'delivered'],
    ['newrelic', 202, 'delivered'],
    ['sentry', 202, 'delivered'],
    ['otel-collector', 204, 'delivered'],
    ['otel-collector', 500, 'retry'],
    ['langfuse', 530, 'retry'],
    ['newrelic', 408, 'retry'],
    ['langfuse', 403, 'blocked'],
    ['newrelic', 403, 'blocked'],
    ['webhook', 204, 'delivered'],
    ['webhook', 302, 'blocked'],
    ['webhook', 400, 'refused'],
    ['webhook', 408, 'retry'],
    ['webhook', 409, 'retry'],
    ['webhook', 410, 'blocked'],
    ['webhook', 422, 'refused'],
    ['webhook', 425, 'retry'],
    ['webhook', 500, 'retry'],
    ['webhook', 599, 'retry'],
  ])('of %s with %d mean: %s', async (type, status, outcome) => {
    expect(await outcomeOf(type, status, '')).toMatchObject({ outcome });
  });

  it.each(['newrelic', 'webhook'])('of %s have no body that counts rejected spans', async (type) => {
    const body = '{"partialSuccess":{"rejectedSpans":1,"errorMessage":"no"}}';
    expect(await outcomeOf(type, 200, body)).toEqual({ outcome: 'delivered' });
    expect(await outcomeOf('grafana', 200, body)).toMatchObject({ rejected: 1 });
  });
});

describe('the connection test', () => {
  it.each<[string, readonly number[]]>([
    ['webhook', [200, 202, 204, 400]],
    ['otel-collector', [200, 202, 204, 400]],
    ['langsmith', [200, 202, 204, 400]],
    ['langfuse', [200, 202, 204]],
    ['arize', [200, 202, 204, 400]],
    ['grafana', [200, 202, 204, 400]],
    ['newrelic', [200, 202, 204, 400]],
    ['ramp', [200, 202, 204, 400]],
    ['sentry', [200, 202, 204, 400]],
  ])('of %s passes with %j', async (type, passing) => {
    const kind = requireDestinationKind(type);
    const [step, ...others] = await kind.delivery.probe(parseConfig(kind, kind.example), CONTEXT);
    expect(others).toEqual([]);
    expect(String(step!.request.body)).toBe('{"resourceSpans":[]}');
    const statuses = [200, 202, 204, 302, 400, 401, 403, 404, 405, 413, 415, 429, 500, 503];
    const passed = statuses.filter(
      (status) => step!.problem({ status, headers: {}, body: Buffer.alloc(0) }) === null,
    );
    expect(passed).toEqual(passing);
  });

  it('marks itself to a webhook, with new headers to sign each time', async () => {
    const kind = requireDestinationKind('webhook');
    const headersAt = async (now: Date): Promise<DeliveryRequest['headers']> => {
      const [step] = await kind.delivery.probe(parseConfig(kind, kind.example), { ...CONTEXT, now });
      return step!.request.headers;
    };
    const first = await headersAt(CONTEXT.now);
    expect(first).toEqual({
      'content-type': 'application/json',
      'x-test-connection': 'true',
      'webhook-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      'webhook-timestamp': '1795255200',
    });
    const second = await headersAt(new Date(CONTEXT.now.getTime() + 1));
    expect(second['webhook-id']).not.toBe(first['webhook-id']);
    expect((await requestOf('webhook')).headers).not.toHaveProperty('x-test-connection');
  });
});

describe('webhook', () => {
  const idOf = async (traces: readonly GenerationTrace[], context = CONTEXT): Promise<unknown> =>
    (await requestOf('webhook', {}, traces, context)).headers['webhook-id'];

  it('has the same id for a retry, and another id for another batch or destination', async () => {
    const batch = [generationTrace(1), generationTrace(2)];
    const id = await idOf(batch);
    expect(await idOf(batch, { ...CONTEXT, now: new Date('2026-11-22T10:00:00Z') })).toBe(id);
    expect(await idOf(batch, { ...CONTEXT, destinationId: 'd-2' })).not.toBe(id);
    expect(await idOf(batch.slice(1))).not.toBe(id);
    expect(await idOf(batch.toReversed())).not.toBe(id);
  });

  it('has the time of sending, in seconds', async () => {
    expect((await requestOf('webhook')).headers['webhook-timestamp']).toBe('1795255200');
  });

  it.each(['POST', 'PUT'])('is sent by %s', async (method) => {
    expect(await requestOf('webhook', { method })).toMatchObject({ method });
  });
});

describe('newrelic', () => {
  it('keeps the cost and the tokens of a chat with all flags and many keys', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`key-${index}`, 'value']));
    const chat = generationTrace(1, { ...TOOLS_CHAT, metadata });
    const candidate = createCandidate({
      generation: { operation: 'chat', cost: 224_000_000n, chat: createChatFacts() },
    });
    const { facts } = buildTrace(candidate, createOpenDestination());
    expect(Object.keys(facts).length).toBeGreaterThan(20);
    const { attributes, droppedAttributesCount } = (await sentTo('newrelic', { ...chat, facts }))
      .scopeSpans[0].spans[0];
    expect(droppedAttributesCount).toBeGreaterThan(0);
    const names = attributes.map(({ key }) => key);
    for (const name of ['input_cost', 'output_cost', 'total_cost', 'cost', 'total_tokens'])
      expect(names).toContain(`gen_ai.usage.${name}`);
    for (const key of Object.keys(metadata)) expect(names).toContain(`trace.metadata.${key}`);
  });

  it('drops facts of the flags before keys of the caller', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`);
    const metadata = Object.fromEntries(keys.map((key) => [key, 'value'] as const));
    const facts = { usage: 1, request_id: 'request-1' };
    const { attributes, droppedAttributesCount } = (await sentTo('newrelic', { metadata, facts }))
      .scopeSpans[0].spans[0];
    const names = attributes.map(({ key }) => key);
    const kept = names.filter((name) => name.startsWith('trace.metadata.key-'));
    expect(attributes).toHaveLength(64);
    expect(kept).toEqual(keys.slice(0, kept.length).map((key) => `trace.metadata.${key}`));
    expect(kept.length).toBeGreaterThan(20);
    expect(names.filter((name) => name.includes('openrouter_generation'))).toEqual([]);
    expect(droppedAttributesCount).toBe(500 - kept.length + 2);
  });

  it('gets no more than it stores, and content that is valid JSON', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`key-${index}`, 'v'.repeat(9000)]),
    );
    const { spans } = (
      await sentTo('newrelic', { metadata, input: { items: ['x'.repeat(9000)], isTruncated: false } })
    ).scopeSpans[0];
    expect(spans[0].attributes).toHaveLength(64);
    expect(spans[0].droppedAttributesCount).toBeGreaterThan(60);
    const lengths = spans[0].attributes.map(({ value }) => String(Object.values(value)[0]).length);
    expect(Math.max(...lengths)).toBe(4095);
    const prompt = spans[0].attributes.find(({ key }) => key === 'gen_ai.prompt')!.value;
    expect(JSON.parse((prompt as { stringValue: string }).stringValue)).toHaveProperty('input');
  });
});
