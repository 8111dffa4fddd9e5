// The keys of issuers, by the addresses of policies.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { ScriptedResolver } from '../../support/app/name-resolver.js';
import {
  AUDIENCE,
  createPolicy,
  exchange,
  exchanged,
  formOf,
  goodClaims,
  ISSUER,
  SUBJECT,
} from '../../support/federation/exchange.js';
import { createSigningKey, startIssuer } from '../../support/federation/issuer.js';
import type { SigningKey } from '../../support/federation/issuer.js';
import { ask } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

let app: TestApp;
let key: SigningKey;
const resolver = new ScriptedResolver();
beforeAll(async () => {
  app = await createTestApp({
    environment: {
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      RATE_LIMIT_CHANGES_PER_MINUTE: '0',
    },
    resolver,
  });
  key = await createSigningKey('key-1');
});
afterAll(() => app.close());

// An account has 50.
afterEach(() => app.sql('DELETE FROM federation_policies'));

describe('the keys of an issuer', () => {
  it('are fetched from its address, and kept for 5 minutes', async () => {
    const issuer = await startIssuer(key);
    try {
      const policy = await createPolicy(app, [], { jwks_url: issuer.jwksUrl });
      await exchanged(app, policy.id, key);
      await exchanged(app, policy.id, key);
      expect(issuer.fetches).toBe(1);
      app.clock.advance(300_000);
      await exchanged(app, policy.id, key);
      expect(issuer.fetches).toBe(2);
    } finally {
      await issuer.close();
    }
  });

  it('are fetched again for an unknown kid, once a minute', async () => {
    const issuer = await startIssuer(key);
    const rotated = await createSigningKey('key-2');
    try {
      const policy = await createPolicy(app, [], { jwks_url: issuer.jwksUrl });
      await exchanged(app, policy.id, key);
      issuer.publish(rotated);
      const attempt = async () =>
        (await exchange(app, formOf(policy.id, await rotated.sign(goodClaims(app))))).status;
      for (let count = 0; count < 3; count++) expect(await attempt()).toBe(400);
      expect(issuer.fetches).toBe(1);
      app.clock.advance(60_000);
      expect(await attempt()).toBe(200);
      expect(issuer.fetches).toBe(2);
    } finally {
      await issuer.close();
    }
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['an error', (response) => void response.writeHead(500).end()],
    ['a redirect', (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
    ['no JSON', (response) => void response.end('<html>')],
    ['no keys', (response) => void response.end('{"keys": "many"}')],
    ['more than 256 KiB', (response) => void response.end(`{"keys": [], "x": "${'x'.repeat(300_000)}"}`)],
  ])('are missing where its address answers %s: 503 until it has them', async (_name, answer) => {
    const issuer = await startIssuer(key);
    try {
      issuer.answerWith(answer);
      const policy = await createPolicy(app, [], { jwks_url: issuer.jwksUrl });
      const form = formOf(policy.id, await key.sign(goodClaims(app)));
      const response = await exchange(app, form);
      expectError(response, 503, "the issuer's keys cannot be read");
      expect(response.body).toMatchObject({ error: 'temporarily_unavailable' });
      expect(response.headers['retry-after']).toBe('5');
      expect((await exchange(app, form)).status).toBe(503);
      expect(issuer.fetches).toBe(1);
      issuer.answerWith(null);
      app.clock.advance(5_000);
      expect((await exchange(app, form)).status).toBe(200);
    } finally {
      await issuer.close();
    }
  });

  it.each<[string, string]>([
    ['http://169.254.169.254/jwks', 'jwks_url: 169.254.169.254 is'],
    ['https://169.254.169.254/jwks', 'jwks_url: 169.254.169.254 is'],
    ['https://metadata.example.com/jwks', 'jwks_url: metadata.example.com leads to'],
    [
      'https://user@issuer.example.com/jwks',
      'jwks_url: issuer.example.com must not have a user name or password',
    ],
    ['file:///etc/passwd', 'jwks_url: an address is not an absolute http or https URL'],
  ])('are not read from %s (V68)', async (address, problem) => {
    resolver.script('metadata.example.com', ['169.254.169.254']);
    const body = {
      name: 'Deployments',
      issuer: ISSUER,
      audience: AUDIENCE,
      subject: SUBJECT,
      api_key_hash: app.key.hash,
      jwks_url: address,
    };
    const response = await ask(app, 'post', '/federation-policies', { body });
    expect(expectError(response, 400)).toContain(problem);
    const { id } = await createPolicy(app, [key]);
    expectError(await ask(app, 'patch', `/federation-policies/${id}`, { body: { jwks_url: address } }), 400);
  });

  it('are not read from a name that leads into the network of the service later (V68)', async () => {
    resolver.script('issuer.example.com', [], ['169.254.169.254']);
    const policy = await createPolicy(app, [], { jwks_url: 'https://issuer.example.com/jwks' });
    const response = await exchange(app, formOf(policy.id, await key.sign(goodClaims(app))));
    expectError(response, 503);
    expect(JSON.stringify(response.body)).not.toContain('169.254');
  });
});

it('the results of exchanges are counted', async () => {
  const { text } = await app.http.get('/metrics');
  const counts = text.split('\n').filter((line) => line.startsWith('signalbox_token_exchanges_total'));
  for (const result of ['issued', 'refused', 'unavailable'])
    expect(counts).toContainEqual(expect.stringMatching(new RegExp(`"${result}"} [1-9]`)));
});
