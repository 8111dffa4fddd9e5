import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { checkedStatement, keyOf, serviceAccount } from '../../../../test/support/vertex/service-account.js';
import { GOOGLE_TOKEN_ADDRESS } from './service-account.js';
import { GOOGLE_TOKENS } from './token-exchange.js';
import { operationUrl } from '../address.js';
import { vertexPath } from './vertex-address.js';

const NOW = new Date('2026-11-29T12:00:00.500Z');
const OWN = keyOf(serviceAccount('customer'));
const LOOPBACK = 'http://127.0.0.1:9/token';
const OPERATOR = keyOf(serviceAccount('operator', { token_uri: LOOPBACK }));
const pem = (key: ReturnType<typeof generateKeyPairSync>): string =>
  (key as unknown as { privateKey: { export(form: object): string } }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });

describe('a request for a token', () => {
  it("goes to Google's address with a signed statement for an hour", async () => {
    const { url, headers, body } = await GOOGLE_TOKENS.buildRequest(OWN, undefined, NOW);
    expect([url, headers['content-type']]).toEqual([
      GOOGLE_TOKEN_ADDRESS,
      'application/x-www-form-urlencoded',
    ]);
    expect(checkedStatement(body, GOOGLE_TOKEN_ADDRESS)).toEqual({
      header: { alg: 'RS256', typ: 'JWT', kid: 'key-of-customer' },
      claims: {
        iss: 'customer@project.iam.gserviceaccount.com',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        aud: GOOGLE_TOKEN_ADDRESS,
        iat: 1_795_953_600,
        exp: 1_795_957_200,
      },
    });
  });

  it.each([
    ["the operator's own key", OPERATOR],
    ['a key of a customer', OWN],
  ])("goes to the address in the operator's key for %s", async (_whose, key) => {
    const { url, body } = await GOOGLE_TOKENS.buildRequest(key, OPERATOR, NOW);
    expect(url).toBe(LOOPBACK);
    expect(checkedStatement(body, LOOPBACK).claims['aud']).toBe(LOOPBACK);
  });

  it.each(['http://169.254.169.254/token', 'https://example.com/token', LOOPBACK])(
    'never goes to an address in a key of a customer: %s',
    async (address) => {
      const key = keyOf(serviceAccount('customer', { token_uri: address }));
      for (const operator of [undefined, keyOf(serviceAccount('operator'))])
        await expect(GOOGLE_TOKENS.buildRequest(key, operator, NOW)).rejects.toThrow('token_uri must be');
    },
  );

  it.each([
    ['no JSON', 'AIzaSyKey', 'must be a JSON object'],
    ['a list', '[]', 'must be a JSON object'],
    ['the key of a user', keyOf(serviceAccount('a', { type: 'authorized_user' })), 'type must be'],
    ['a project that leaves its path', keyOf(serviceAccount('a', { project_id: '../../x' })), 'project_id'],
    ['a private key that is none', keyOf(serviceAccount('a', { private_key: 'x' })), 'private_key'],
    [
      'a key of a curve',
      keyOf(serviceAccount('a', { private_key: pem(generateKeyPairSync('ec', { namedCurve: 'P-256' })) })),
      'private_key must be of RSA',
    ],
    [
      'a short key',
      keyOf(serviceAccount('a', { private_key: pem(generateKeyPairSync('rsa', { modulusLength: 1_024 })) })),
      '2048 to 4096 bits',
    ],
  ])('is none with %s, and the error shows no part of the key', async (_case, key, rule) => {
    const failed = GOOGLE_TOKENS.buildRequest(key, undefined, NOW);
    await expect(failed).rejects.toThrow(rule);
    await expect(failed).rejects.not.toThrow(/BEGIN|AIza|@project/);
  });
});

describe('the answer', () => {
  const read = (body: unknown) =>
    GOOGLE_TOKENS.readToken({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });

  it.each([
    [
      { access_token: 'ya29.a', expires_in: 3_599, token_type: 'Bearer' },
      { token: 'ya29.a', lifetime: 3_599 },
    ],
    [{ access_token: 'ya29.a' }, { token: 'ya29.a', lifetime: 0 }],
    [{ access_token: 'a\r\nx-header: b', expires_in: 10 }, null],
    [{ id_token: 'x' }, null],
    [[], null],
  ])('%j has the token %j', (body, token) => {
    expect(read(body)).toEqual(token);
  });
});

describe('an address at Vertex', () => {
  const path = 'google/models/gemini-3:generateContent';
  it.each([
    ['https://aiplatform.googleapis.com/v1', 'projects/project-of-customer/locations/global'],
    [
      'https://europe-west4-aiplatform.googleapis.com/v1',
      'projects/project-of-customer/locations/europe-west4',
    ],
    ['https://aiplatform.eu.rep.googleapis.com/v1', 'projects/project-of-customer/locations/eu'],
    ['http://127.0.0.1:9/v1', 'projects/project-of-customer/locations/global'],
  ])('below %s has the location of the host and the project of the key', (baseUrl, place) => {
    expect(vertexPath({ baseUrl, apiKey: OWN }, path)).toBe(`/${place}/publishers/${path}`);
  });

  it("keeps the project and the location of the operator's address", () => {
    const place = 'https://proxy.example/v1/projects/other/locations/us-east5';
    const baseUrl = `${place}?team=a`;
    expect(operationUrl(baseUrl, vertexPath({ baseUrl, apiKey: OWN }, path))).toBe(
      `${place}/publishers/${path}?team=a`,
    );
  });
});
