// The attribute names of single kinds, and the other places where they read.
import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { attributesOf, requestOf, sentTo } from '../../../test/support/deliveries/otlp-requests.js';
import type { Sent } from '../../../test/support/deliveries/otlp-requests.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';

describe('sentry', () => {
  it.each([
    ['https://publickey@o1.ingest.sentry.io/42', 'publickey'],
    ['https://publickey:secret@sentry.example.com:9000/path/42/', 'publickey'],
  ])('takes the key of %s', async (dsn, key) => {
    expect((await requestOf('sentry', { dsn })).headers['x-sentry-auth']).toBe(`sentry sentry_key=${key}`);
  });

  it('receives failures and lists as plain attributes', async () => {
    const overrides = {
      error: { type: 'provider_timeout', message: 'no answer' },
      metadata: { tags: ['a', 'b'] },
    };
    expect(await attributesOf('sentry', overrides)).toMatchObject({
      'exception.type': 'provider_timeout',
      'exception.message': 'no answer',
      'gen_ai.request.encoding_format': 'float',
      'trace.tag': 'a,b',
      'sentry.op': 'gen_ai.embeddings',
      'gen_ai.conversation.id': 'session-9',
      'gen_ai.cost.total_tokens': 1.8e-7,
    });
    expect((await sentTo('sentry', overrides)).scopeSpans[0].spans[0]).not.toHaveProperty('events');
  });
});

describe('langfuse', () => {
  it('gets its own names, with usage, cost and parameters as JSON', async () => {
    const attributes = await attributesOf('langfuse', { traceName: 'Checkout', metadata: { tags: ['a'] } });
    expect(attributes).toMatchObject({
      'langfuse.observation.type': 'embedding',
      'langfuse.observation.model.name': 'text-embedding-3-small',
      'langfuse.observation.output': '{"count":2,"dimensions":1536}',
      'langfuse.internal.is_app_root': true,
      'langfuse.observation.model.parameters':
        '{"encoding_format":"float","dimensions":1536,"input_type":"search_query"}',
      'langfuse.observation.usage_details': '{"input":9,"total":9}',
      'langfuse.observation.cost_details': '{"input":1.8e-7,"total":1.8e-7}',
      'langfuse.observation.level': 'DEFAULT',
      'langfuse.trace.name': 'Checkout',
      'langfuse.trace.tags': { values: [{ stringValue: 'a' }] },
      'langfuse.user.id': 'customer-7',
      'langfuse.session.id': 'session-9',
      'langfuse.observation.metadata.openrouter.api_key_name': 'Search service',
    });
  });

  it.each([
    ['production', 'production'],
    ['Production', undefined],
    ['langfuse-x', undefined],
    ['e'.repeat(41), undefined],
    [7, undefined],
  ])('has the environment %j as %j', async (environment, shown) => {
    const attributes = await attributesOf('langfuse', { metadata: { environment, release: 'v1.2' } });
    expect(attributes['langfuse.environment']).toBe(shown);
    expect(attributes['langfuse.release']).toBe('v1.2');
    expect(attributes).toHaveProperty(['langfuse.trace.metadata.environment']);
  });
});

describe('langsmith', () => {
  it('sends a root of its own for every call, whatever the trace and the parent of the caller', async () => {
    const overrides = {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
      generationId: '0193a1b2-c3d4-7000-8000-0000000000ff',
    };
    const { traceId, parentSpanId } = (await sentTo('langsmith', overrides)).scopeSpans[0].spans[0];
    expect({ traceId, parentSpanId }).toEqual({ traceId: '0193a1b2c3d4700080000000000000ff' });
    expect(await attributesOf('langsmith', overrides)).toMatchObject({
      'langsmith.span.id': '0193a1b2-c3d4-7000-8000-0000000000ff',
      'langsmith.is_root': true,
      'langsmith.metadata.trace_id': '4bf92f3577b34da6a3ce929d0e0e4736',
      'langsmith.metadata.openrouter.parent_span_id': '00f067aa0ba902b7',
    });
  });

  it('sends usage and cost under the one name that the platform reads', async () => {
    const { 'langsmith.usage_metadata': usage } = await attributesOf('langsmith', {});
    expect(JSON.parse(String(usage))).toEqual({
      input_tokens: 9,
      output_tokens: 0,
      total_tokens: 9,
      input_cost: 1.8e-7,
      total_cost: 1.8e-7,
    });
  });

  it("threads runs by the session, which no caller's key replaces", async () => {
    const attributes = await attributesOf('langsmith', {
      metadata: { session_id: 'other', tags: ['a', 'b'] },
    });
    expect(attributes).toMatchObject({
      'langsmith.metadata.session_id': 'session-9',
      'langsmith.span.tags': 'a,b',
    });
  });

  it('has the user and the session of the metadata when the call names none', async () => {
    const metadata = { session_id: 'session', user_id: 'customer' };
    expect(await attributesOf('langsmith', { sessionId: null, userId: null, metadata })).toMatchObject({
      'langsmith.metadata.session_id': 'session',
      'langsmith.metadata.user_id': 'customer',
    });
  });

  it.each([
    ['my project', 'my project', undefined],
    ['поиск – prod', undefined, 'поиск – prod'],
    ['größe', undefined, 'größe'],
    ['a\nb', undefined, 'a\nb'],
  ])('has the project %j in a header, or in every span', async (project, header, attribute) => {
    const request = await requestOf('langsmith', { project }, [generationTrace(1), generationTrace(2)]);
    expect(request.headers['langsmith-project']).toBe(header);
    const { resourceSpans } = JSON.parse(String(request.body)) as { resourceSpans: Sent[] };
    const named = resourceSpans.map(
      ({ scopeSpans }) =>
        scopeSpans[0].spans[0].attributes.find(({ key }) => key === 'langsmith.trace.session_name')?.value,
    );
    const value = attribute === undefined ? undefined : { stringValue: attribute };
    expect(named).toEqual([value, value]);
  });

  it('names the workspace only if the config does', async () => {
    expect((await requestOf('langsmith', { workspaceId: 'w-1' })).headers['x-tenant-id']).toBe('w-1');
    for (const workspaceId of [undefined, '']) {
      expect((await requestOf('langsmith', { workspaceId })).headers).not.toHaveProperty('x-tenant-id');
    }
  });
});

describe('arize', () => {
  it('gets texts one by one, without token ids', async () => {
    const attributes = await attributesOf('arize', {
      input: { items: ['a', [1, 2], 'c'], isTruncated: false },
    });
    expect(attributes).toMatchObject({
      'input.value': '{"input":["a",[1,2],"c"]}',
      'input.mime_type': 'application/json',
      'embedding.embeddings.0.embedding.text': 'a',
      'embedding.embeddings.2.embedding.text': 'c',
    });
    expect(attributes).not.toHaveProperty(['embedding.embeddings.1.embedding.text']);
  });

  it('has the name of the convention unless the caller chose one', async () => {
    const nameOf = async (overrides: Partial<GenerationTrace>): Promise<string> =>
      (await sentTo('arize', overrides)).scopeSpans[0].spans[0].name;
    expect(await nameOf({})).toBe('CreateEmbeddings');
    expect(await nameOf({ spanName: 'Embed the query' })).toBe('Embed the query');
  });

  it('names its project in the resource', async () => {
    const { attributes } = (await sentTo('arize', {})).resource;
    expect(attributes).toContainEqual({
      key: 'openinference.project.name',
      value: { stringValue: 'my-project' },
    });
  });
});
