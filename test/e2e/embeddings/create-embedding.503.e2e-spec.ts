// POST /embeddings without a database.
import { describe, expect, it } from '@jest/globals';
import { answerOf, embed, LOCAL, startWithUpstream } from '../../support/requests/create-embedding.js';
import { createTestDatabase } from '../../support/database/database.js';
import { startDatabaseProxy } from '../../support/database/database-proxy.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';

describe('503: the database is away', () => {
  it('is returned at once for known and unknown keys, until the database is back', async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const setup = await startWithUpstream({}, { databaseUrl: proxy.url });
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
