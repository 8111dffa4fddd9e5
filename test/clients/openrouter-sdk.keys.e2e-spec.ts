// Every method of the real client's API keys against the listening service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';

let app: TestApp;
let client: OpenRouter;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  client = clientWith(app.managementKey);
});
afterAll(() => app.close());

const clientWith = (apiKey: string): OpenRouter =>
  new OpenRouter({ serverURL: app.baseUrl, apiKey, retryConfig: { strategy: 'none' } });

describe('keys', () => {
  it('are created, read, changed and deleted', async () => {
    const expiresAt = new Date('2027-01-31T12:00:00Z');
    const { data, key } = await client.apiKeys.create({
      requestBody: {
        name: 'Production',
        limit: 12.5,
        limitReset: 'monthly',
        includeByokInLimit: true,
        expiresAt,
        creatorUserId: 'user-1',
        external: { user: 'partner-user' },
        workspaceId: app.workspaceId,
      },
    });
    expect(key).toMatch(/^sk-sb-v1-/);
    expect(data).toMatchObject({
      name: 'Production',
      limit: 12.5,
      limitRemaining: 12.5,
      limitReset: 'monthly',
      includeByokInLimit: true,
      expiresAt,
      creatorUserId: 'user-1',
      externalUser: 'partner-user',
      workspaceId: app.workspaceId,
      updatedAt: null,
    });
    const { hash } = data;
    expect((await client.apiKeys.get({ hash })).data).toEqual(data);
    const { data: updated } = await client.apiKeys.update({
      hash,
      requestBody: {
        name: 'Renamed',
        disabled: true,
        limit: null,
        limitReset: null,
        includeByokInLimit: false,
      },
    });
    expect(updated).toMatchObject({
      name: 'Renamed',
      disabled: true,
      limit: null,
      limitRemaining: null,
      limitReset: null,
      includeByokInLimit: false,
      updatedAt: expect.any(String),
    });
    expect(await client.apiKeys.delete({ hash })).toEqual({ deleted: true });
    await expect(client.apiKeys.get({ hash })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
    await expect(client.apiKeys.delete({ hash })).rejects.toBeInstanceOf(errors.NotFoundResponseError);
  });

  it('are listed page by page, 250 of them', async () => {
    const { managementKey, accountId, workspaceId } = await app.createAccount();
    const other = clientWith(managementKey);
    const hashes: string[] = [];
    // By the client, they would take most of the time of this file.
    while (hashes.length < 249) {
      const { record } = await app.createKey({ accountId, workspaceId, name: String(hashes.length) });
      hashes.push(record.hash);
    }
    hashes.push((await other.apiKeys.create({ requestBody: { name: '249' } })).data.hash);
    await other.apiKeys.update({ hash: hashes[0] ?? '', requestBody: { disabled: true } });
    const listed: string[] = [];
    for (;;) {
      const { data } = await other.apiKeys.list({ includeDisabled: true, offset: listed.length });
      if (data.length === 0) break;
      listed.push(...data.map(({ hash }) => hash));
    }
    // The account began with two more keys.
    expect(new Set(listed).size).toBe(252);
    expect(listed).toEqual(expect.arrayContaining(hashes));
    expect((await other.apiKeys.list()).data).toHaveLength(100);
    expect((await other.apiKeys.list({ offset: 200 })).data).toHaveLength(51);
  });

  it.each(['management', 'inference'] as const)('return their own record: %s', async (kind) => {
    const { secret, record } = await app.createKey({ kind });
    const { data } = await clientWith(secret).apiKeys.getCurrentKeyMetadata();
    expect(data).toMatchObject({
      label: record.label,
      isManagementKey: kind === 'management',
      isProvisioningKey: kind === 'management',
      isFreeTier: false,
      limit: null,
      limitRemaining: null,
      usage: 0,
      workspaceId: app.workspaceId,
      organizationId: null,
      allowedDataRegions: ['global'],
      rateLimit: { requests: -1 },
    });
  });

  it('are rejected with errors that the client has types for', async () => {
    const inference = clientWith(app.apiKey);
    const hash = app.key.hash;
    await expect(inference.apiKeys.create({ requestBody: { name: 'n' } })).rejects.toBeInstanceOf(
      errors.ForbiddenResponseError,
    );
    await expect(inference.apiKeys.list()).rejects.toBeInstanceOf(errors.UnauthorizedResponseError);
    await expect(inference.apiKeys.delete({ hash })).rejects.toBeInstanceOf(errors.UnauthorizedResponseError);
    await expect(client.apiKeys.create({ requestBody: { name: '' } })).rejects.toBeInstanceOf(
      errors.BadRequestResponseError,
    );
    await expect(client.apiKeys.update({ hash: 'f01d', requestBody: {} })).rejects.toBeInstanceOf(
      errors.NotFoundResponseError,
    );
  });
});
