// Every method of the real client's destinations against the listening service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import { MAX_DESTINATIONS_PER_KIND } from '../../src/domain/destinations/destination.js';
import { askFor } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import { isEverything } from '../support/extent.js';
import type { TestApp } from '../support/app/app.js';

let app: TestApp;
let client: OpenRouter;
beforeAll(async () => {
  app = await createTestApp();
  client = clientWith(app.managementKey);
});
afterAll(() => app.close());

const clientWith = (apiKey: string): OpenRouter =>
  new OpenRouter({ serverURL: app.baseUrl, apiKey, retryConfig: { strategy: 'none' } });

describe('destinations', () => {
  it('are listed page by page, each once, up to the maximum of a workspace', async () => {
    // Some are more than a page of 50.
    const kinds = isEverything ? DESTINATION_KINDS : DESTINATION_KINDS.slice(0, 11);
    await Promise.all(
      kinds.map(async ({ type, example }) => {
        for (let count = 0; count < MAX_DESTINATIONS_PER_KIND; count++) {
          const body = { type, name: `${type} ${count}`, config: example };
          await askFor(201, app, 'post', '/observability/destinations', { body });
        }
      }),
    );
    const expected = kinds.length * MAX_DESTINATIONS_PER_KIND;
    const ids: unknown[] = [];
    for await (const page of await client.observability.list({ limit: 20 })) {
      const { data, totalCount } = page.result;
      expect(totalCount).toBe(expected);
      for (const record of data) {
        expect(record).not.toHaveProperty('isUnknown');
        ids.push((record as { id: string }).id);
      }
    }
    expect(ids).toHaveLength(expected);
    expect(new Set(ids).size).toBe(expected);
    const { result } = await client.observability.list();
    expect(result.data).toHaveLength(50);
  });

  it('are read, updated with their own record, and deleted', async () => {
    const other = clientWith((await app.createAccount()).managementKey);
    const { data: created } = await other.observability.create({
      createObservabilityDestinationRequest: {
        type: 'langfuse',
        name: 'Langfuse',
        config: { secretKey: 'sk-lf-0123456789', publicKey: 'pk-lf-9876543210' },
      },
    });
    const { id } = created as { id: string };
    const { data: read } = await other.observability.get({ id });
    expect(read).toEqual(created);
    const { config } = read as { config: Record<string, unknown> };
    const { data: updated } = await other.observability.update({
      id,
      updateObservabilityDestinationRequest: {
        name: 'Renamed',
        enabled: false,
        samplingRate: 0.5,
        filterRules: { groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'exists' }] }] },
        regions: ['eu'],
        config,
      },
    });
    expect(updated).toMatchObject({
      type: 'langfuse',
      name: 'Renamed',
      enabled: false,
      samplingRate: 0.5,
      filterRules: { enabled: true, groups: [{ logic: 'or' }] },
      regions: ['europe'],
      config,
    });
    const { data: cleared } = await other.observability.update({
      id,
      updateObservabilityDestinationRequest: { filterRules: null, apiKeyHashes: null },
    });
    expect(cleared).toMatchObject({ filterRules: null, apiKeyHashes: null });
    expect(await other.observability.delete({ id })).toEqual({ deleted: true });
    await expect(other.observability.get({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
  });

  it('are rejected with errors that the client has types for', async () => {
    const id = '019a0000-0000-7000-8000-000000000000';
    const update = { id, updateObservabilityDestinationRequest: { name: 'n' } };
    await expect(client.observability.update(update)).rejects.toBeInstanceOf(errors.NotFoundResponseError);
    await expect(client.observability.delete({ id })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
    await expect(client.observability.list({ limit: 1_000 })).rejects.toBeInstanceOf(errors.OpenRouterError);
    const inference = clientWith(app.apiKey);
    await expect(inference.observability.get({ id })).rejects.toBeInstanceOf(
      errors.UnauthorizedResponseError,
    );
    await expect(inference.observability.update(update)).rejects.toBeInstanceOf(
      errors.UnauthorizedResponseError,
    );
  });
});
