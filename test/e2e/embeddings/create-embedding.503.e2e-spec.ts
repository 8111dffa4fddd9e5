// POST /embeddings: no usable endpoint, and no database.
import { describe, expect, it } from '@jest/globals';
import { answerOf, embed, LOCAL, SMALL, startWithUpstream } from '../../support/create-embedding.js';
import { createTestDatabase } from '../../support/database.js';
import { startDatabaseProxy } from '../../support/database-proxy.js';
import { expectError } from '../../support/error-shape.js';
import { eventually } from '../../support/eventually.js';

describe('503: a model without a usable endpoint', () => {
  it('is returned when its provider is not configured; other models are served', async () => {
    const setup = await startWithUpstream({ OPENAI_API_KEY: '' });
    try {
      const response = await embed(setup.app, { model: SMALL, input: 'a' });
      expectError(
        response,
        503,
        /^Service temporarily unavailable: no provider of openai\/text-embedding-3-small/,
      );
      expect(response.headers).not.toHaveProperty('x-generation-id');
      expect(setup.upstream.requests).toEqual([]);
      answerOf(await embed(setup.app, { model: LOCAL, input: 'a' }));
    } finally {
      await setup.close();
    }
  });
});

describe('503: preferences that no endpoint satisfies', () => {
  it.each([[{ ignore: ['OpenAI'] }], [{ only: ['vLLM'] }], [{ max_price: { prompt: '0.019999' } }]])(
    'are reported with 503: %j',
    async (provider) => {
      const setup = await startWithUpstream();
      try {
        const detail = `provider: no endpoint of ${SMALL} satisfies these preferences`;
        const response = await embed(setup.app, { model: SMALL, input: 'a', provider });
        expectError(response, 503, `Service temporarily unavailable: ${detail}`);
        expect(setup.upstream.requests).toEqual([]);
      } finally {
        await setup.close();
      }
    },
  );
});

describe('503: the database is away', () => {
  it('is returned at once for known and unknown keys, until the database is back', async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const setup = await startWithUpstream({}, proxy.url);
    const body = { model: LOCAL, input: 'a' };
    try {
      answerOf(await embed(setup.app, body));
      const { secret: unseen } = await setup.app.createKey();
      proxy.cut();
      for (const secret of [setup.app.apiKey, unseen, 'sk-sb-v1-unknown']) {
        const response = await embed(setup.app, body, secret);
        expectError(response, 503, 'Service temporarily unavailable: the database cannot be reached');
        expect(response.headers['retry-after']).toBe('1');
        expect(response.text).not.toMatch(/postgres|127\.0\.0\.1|ECONN/);
      }
      proxy.repair();
      const response = await eventually(
        async () => embed(setup.app, body),
        ({ status }) => status !== 503,
      );
      answerOf(response);
      answerOf(await embed(setup.app, body, unseen));
      expectError(await embed(setup.app, body, 'sk-sb-v1-unknown'), 401);
      const rows = await setup.app.sql('SELECT id FROM generations WHERE status = 200');
      expect(rows).toHaveLength(3);
    } finally {
      proxy.repair();
      await setup.close();
      await proxy.close();
      await database.drop();
    }
  });
});
