import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { keyOf, serviceAccount } from '../../../test/support/vertex/service-account.js';
import type { AppConfig } from '../../config/app-config.js';
import { OutboundFailure } from '../../outbound/exchange/exchange.js';
import type { HttpClient } from '../../outbound/http-client.js';
import { vertex } from '../../providers/vertex.js';
import { openai } from '../../providers/openai.js';
import type { ServingTarget } from '../endpoint-target.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { AccessTokens } from './access-tokens.js';

const KEY = keyOf(serviceAccount('customer'));
const namesOf = (apiKey: string | undefined) => ({
  apiKeys: [apiKey],
  baseUrl: 'http://127.0.0.1:1',
  upstreamModel: 'gemini',
  modelId: 'google/gemini',
});
const AT_VERTEX = { provider: vertex } as unknown as ServingTarget;
const AT_OPENAI = { provider: openai } as unknown as ServingTarget;

/** Answers each exchange with the next token, or with `answer`. */
function startTokens(
  lifetime = 3_599,
  answer?: () => Promise<{ status: number; body: object }>,
): { readonly tokens: AccessTokens; readonly count: () => number } {
  let count = 0;
  const http = {
    send: async () => {
      count++;
      const { status, body } = (await answer?.()) ?? {
        status: 200,
        body: { access_token: `token-${count}`, expires_in: lifetime },
      };
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    },
  };
  const tokens = new AccessTokens(
    http as unknown as HttpClient,
    { providers: new Map() } as unknown as AppConfig,
    { now: () => new Date() },
  );
  return { tokens, count: () => count };
}

const tokenOf = async (tokens: AccessTokens, key = KEY): Promise<string | undefined> =>
  (await tokens.connectionTo(AT_VERTEX, namesOf(key))).accessToken;

describe('a token', () => {
  it('is fetched once for calls that come together, and for those that follow', async () => {
    const { tokens, count } = startTokens();
    const together = await Promise.all(Array.from({ length: 20 }, () => tokenOf(tokens)));
    expect(new Set(together)).toEqual(new Set(['token-1']));
    expect([await tokenOf(tokens), count()]).toEqual(['token-1', 1]);
  });

  it('belongs to one credential', async () => {
    const { tokens, count } = startTokens();
    const other = keyOf(serviceAccount('other'));
    expect([await tokenOf(tokens), await tokenOf(tokens, other), count()]).toEqual(['token-1', 'token-2', 2]);
  });

  it('is not used in the last five minutes of its life', async () => {
    const { tokens } = startTokens(300);
    expect(await tokenOf(tokens)).toBe('token-1');
    await eventually(
      () => tokenOf(tokens),
      (token) => token !== 'token-1',
    );
  });

  it('is fetched again once the provider refuses it', async () => {
    const { tokens } = startTokens();
    await tokenOf(tokens);
    tokens.forget(AT_VERTEX, namesOf(KEY));
    expect(await tokenOf(tokens)).toBe('token-2');
  });

  it('is none for a provider that takes the key itself', async () => {
    const { tokens, count } = startTokens();
    expect(await tokens.connectionTo(AT_OPENAI, namesOf('sk'))).toEqual({
      baseUrl: 'http://127.0.0.1:1',
      apiKey: 'sk',
    });
    expect(count()).toBe(0);
  });
});

describe('a failed exchange', () => {
  it.each([
    [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 'credential'],
    [401, { error: 'invalid_client' }, 'credential'],
    [429, { error: 'rate_limited' }, 'rate_limited'],
    [503, {}, 'overloaded'],
    [200, { id_token: 'x' }, 'broken'],
  ])('with the status %s and %j is a failure of the endpoint: %s', async (status, body, failureClass) => {
    const { tokens, count } = startTokens(0, () => Promise.resolve({ status, body }));
    await expect(tokenOf(tokens)).rejects.toMatchObject({ failureClass });
    await expect(tokenOf(tokens)).rejects.toBeInstanceOf(EndpointFailure);
    expect(count()).toBe(2);
  });

  it('without a connection is one of the connection', async () => {
    const { tokens } = startTokens(0, () => Promise.reject(new OutboundFailure('refused')));
    await expect(tokenOf(tokens)).rejects.toMatchObject({ failureClass: 'failed' });
  });

  it('of a key that is none is one of the credential, and nothing is sent', async () => {
    const { tokens, count } = startTokens();
    await expect(tokenOf(tokens, 'AIzaSyKey')).rejects.toMatchObject({ failureClass: 'credential' });
    expect(count()).toBe(0);
  });
});
