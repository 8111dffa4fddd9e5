// Base URLs with a query, a user name and a password, at every provider.
import { describe, expect, it } from '@jest/globals';
import { EMBEDDING_PROVIDERS } from './index.js';
import type { HttpProvider, ProviderCall } from './shared/provider.js';

const USER_INFO = 'operator:p@ss%';
const BASIC = `Basic ${Buffer.from(USER_INFO).toString('base64')}`;
const BASE_URL = 'https://operator:p%40ss%25@gateway.example/root/v1?tenant=a%20b&key=s3cret';

const call: ProviderCall = {
  upstreamModel: 'titan-embed-text-v2',
  input: { form: 'texts', items: ['hi'] },
  encodingFormat: 'float',
  extra: {},
};
const WITH_ADDRESS = EMBEDDING_PROVIDERS.filter(
  (provider): provider is HttpProvider => provider.transport === 'http',
).map((provider) => [provider.slug, provider] as const);

describe.each(WITH_ADDRESS)('%s', (_slug, provider) => {
  it('puts paths before the query, and the password into a header', async () => {
    const { url, headers } = await provider.buildRequest(call, { baseUrl: BASE_URL });
    expect(url).toMatch(/^https:\/\/gateway\.example\/root\/[^?]*[a-zA-Z]\?tenant=a(%20|\+)b&key=s3cret$/);
    const { authorization } = headers;
    // Without a key Bedrock's signature has nothing to sign with, and its bearer token is empty.
    if (provider.slug !== 'bedrock') expect(authorization).toBe(BASIC);
  });

  it('leaves a plain address as it is', async () => {
    const { url, headers } = await provider.buildRequest(call, {
      baseUrl: 'https://gateway.example/models@home',
      apiKey: 'one-key',
    });
    expect(url).toMatch(/^https:\/\/gateway\.example\/models@home\//);
    expect(JSON.stringify(headers)).toContain('one-key');
  });
});

it('a key that is sent as Authorization takes precedence over the password', async () => {
  const [, openai] = WITH_ADDRESS.find(([slug]) => slug === 'openai')!;
  const { headers } = await openai.buildRequest(call, { baseUrl: BASE_URL, apiKey: 'one-key' });
  expect(headers['authorization']).toBe('Bearer one-key');
});

it("a key in a header of the provider's own is sent beside the password", async () => {
  const [, azure] = WITH_ADDRESS.find(([slug]) => slug === 'azure')!;
  const { headers } = await azure.buildRequest(call, { baseUrl: BASE_URL, apiKey: 'one-key' });
  expect(headers).toMatchObject({ authorization: BASIC, 'api-key': 'one-key' });
});
