// POST /embeddings with X-OpenRouter-Metadata: the route of a call, only for callers that request it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouterMetadata$inboundSchema } from '@openrouter/sdk/models/openroutermetadata.js';
import type { Response } from 'supertest';
import {
  embed,
  LOCAL,
  SMALL,
  startWithUpstream,
  rejectWith,
} from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';

const HEADER = 'X-OpenRouter-Metadata';
const BODY = { model: SMALL, input: ['a', 'b'], dimensions: 2 };

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRIES: '1' });
});
afterEach(() => setup.upstream.answerWith(null));
afterAll(() => setup.close());

function ask(
  body: object | string = BODY,
  headers: Readonly<Record<string, string>> = { [HEADER]: 'enabled' },
) {
  return embed(setup.app, body).set(headers);
}

/** All members that the SDK reads are present, and no secret. */
function metadataOf(response: Response): Record<string, unknown> {
  const { openrouter_metadata: metadata } = response.body as {
    openrouter_metadata?: Record<string, unknown>;
  };
  expect(OpenRouterMetadata$inboundSchema.safeParse(metadata).success).toBe(true);
  expect(response.text).not.toContain('upstream-key');
  return metadata ?? {};
}

describe('200', () => {
  it('returns the tried endpoints and the one that served', async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(metadataOf(response)).toEqual({
      requested: SMALL,
      strategy: 'direct',
      region: null,
      summary: 'available=1, attempts=1, selected=OpenAI',
      attempt: 1,
      is_byok: false,
      endpoints: { total: 1, available: [{ provider: 'OpenAI', model: SMALL, selected: true }] },
      attempts: [{ provider: 'OpenAI', model: SMALL, status: 200 }],
      generation_time: expect.any(Number),
    });
    expect(response.body).toMatchObject({ object: 'list', usage: { is_byok: false } });
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.text)));
  });

  it('returns every attempt', async () => {
    let calls = 0;
    setup.upstream.answerWith((request, response) => {
      if (++calls === 1) return rejectWith(503, { error: { message: 'busy' } })(request, response);
      const data = [0, 1].map((index) => ({ index, embedding: [1, 0] }));
      return rejectWith(200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } })(request, response);
    });
    expect(metadataOf(await ask())).toMatchObject({
      attempt: 2,
      attempts: [{ status: 503 }, { status: 200 }],
    });
  });

  it.each([
    ['the older name', { 'X-OpenRouter-Experimental-Metadata': 'enabled' }],
    ['capitals', { [HEADER]: 'ENABLED' }],
    ['another case of the name', { 'x-OPENROUTER-metadata': 'Enabled' }],
  ] satisfies [string, Record<string, string>][])('is returned with %s', async (_name, headers) => {
    metadataOf(await ask({ model: LOCAL, input: 'a' }, headers));
  });

  it.each(['', 'true', '1', 'disabled', 'enabled, enabled'])(
    'is not returned with the value "%s"',
    async (value) => {
      const response = await ask(BODY, { [HEADER]: value });
      expect(response.status).toBe(200);
      expect(response.body).not.toHaveProperty('openrouter_metadata');
    },
  );

  it('is not returned without the header', async () => {
    expect((await ask(BODY, {})).body).not.toHaveProperty('openrouter_metadata');
  });
});

describe('errors', () => {
  it('of a provider carry every attempt', async () => {
    setup.upstream.answerWith(rejectWith(503, { error: { message: 'busy' } }));
    const response = await ask();
    expect(response.status).toBe(529);
    expect(metadataOf(response)).toMatchObject({
      requested: SMALL,
      attempt: 2,
      endpoints: { total: 1, available: [{ selected: false }] },
      attempts: [{ status: 503 }, { status: 503 }],
      summary: 'available=1, attempts=2, selected=none',
    });
    expect(response.body).toMatchObject({ error: { code: 529, metadata: { provider_name: 'OpenAI' } } });
  });

  it('of a provider without a response carry the status 0', async () => {
    setup.upstream.answerWith((_request, response) => void response.destroy());
    const response = await ask();
    expect(response.status).toBe(502);
    expect(metadataOf(response)).toMatchObject({ attempts: [{ status: 0 }, { status: 0 }] });
  });

  it.each([
    [404, { ...BODY, model: 'unknown/nothing' }, 0],
    [404, { ...BODY, provider: { only: ['vllm'] } }, 0],
    [400, { ...BODY, provider: { only: ['unknown'] } }, 0],
    [400, { model: 'openai/text-embedding-ada-002', input: 'a', dimensions: 7 }, 0],
  ])('with %i before routing carry no attempt', async (status, body, attempt) => {
    const response = await ask(body);
    expect(response.status).toBe(status);
    expect(metadataOf(response)).toMatchObject({ requested: body.model, attempt, attempts: [] });
  });

  it('without the header carry no metadata', async () => {
    const response = await ask({ ...BODY, model: 'unknown/nothing' }, {});
    expect(response.status).toBe(404);
    expect(response.body).not.toHaveProperty('openrouter_metadata');
  });

  it('with 401 carry no metadata', async () => {
    const response = await embed(setup.app, BODY, 'sk-sb-v1-unknown').set(HEADER, 'enabled');
    expect(response.status).toBe(401);
    expect(response.body).not.toHaveProperty('openrouter_metadata');
  });

  it('with 429 carry no metadata', async () => {
    const limited = await startWithUpstream({ RATE_LIMIT_INFERENCE_PER_MINUTE: '1' });
    try {
      const body = { model: LOCAL, input: 'a' };
      await embed(limited.app, body);
      const response = await embed(limited.app, body).set(HEADER, 'enabled');
      expect(response.status).toBe(429);
      expect(response.body).not.toHaveProperty('openrouter_metadata');
    } finally {
      await limited.close();
    }
  });
});
