import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError, EnvironmentReader } from './environment-reader.js';
import { readSignInConfig } from './sign-in-config.js';
import type { SignInConfig } from './sign-in-config.js';

const ISSUER = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'gateway' };
const MINIMAL = { PUBLIC_URL: 'https://gateway.example.com', ...ISSUER };
const SECRET = 'do-not-show-me';

function read(environment: Record<string, string>, publicPath = ''): SignInConfig | undefined {
  return readSignInConfig(new EnvironmentReader(environment), publicPath).signIn;
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sign-in-config-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function fileOf(text: string): string {
  const path = join(directory, `${text.length}.yaml`);
  writeFileSync(path, text);
  return path;
}

function readFileOf(text: string): SignInConfig | undefined {
  return read({ PUBLIC_URL: MINIMAL.PUBLIC_URL, OIDC_PROVIDERS_FILE: fileOf(text) });
}

describe('the variables of sign-in', () => {
  it('are needed by none who signs in with keys alone', () => {
    expect(read({})).toBeUndefined();
    expect(read({ PUBLIC_URL: 'https://gateway.example.com' })).toBeUndefined();
  });

  it('configure one provider, with a default for all but issuer and client', () => {
    expect(read(MINIMAL)).toEqual({
      publicOrigin: 'https://gateway.example.com',
      publicUrl: 'https://gateway.example.com',
      providers: [
        {
          id: 'oidc',
          name: 'id.example.com',
          issuer: 'https://id.example.com',
          clientId: 'gateway',
          clientSecret: null,
          accountId: null,
          scopes: 'openid email profile',
          groupsClaim: ['groups'],
          allowedDomains: [],
          defaultRole: null,
          ownerGroups: [],
          sessionMinutes: 60,
          keyGraceDays: 30,
        },
      ],
    });
  });

  it('are read with their lists and bounds', () => {
    const config = read({
      ...MINIMAL,
      OIDC_NAME: 'Example',
      OIDC_CLIENT_SECRET: SECRET,
      OIDC_ACCOUNT: '0199A1B2-0000-7000-8000-000000000000',
      OIDC_GROUPS_CLAIM: 'resource_access.gateway.roles',
      OIDC_ALLOWED_DOMAINS: 'Example.com, example.org',
      OIDC_OWNER_GROUPS: 'Platform, SRE ',
      OIDC_DEFAULT_ROLE: 'developer',
      OIDC_SESSION_MINUTES: '720',
      OIDC_KEY_GRACE_DAYS: '1',
    });
    expect(config?.providers[0]).toMatchObject({
      name: 'Example',
      clientSecret: SECRET,
      accountId: '0199a1b2-0000-7000-8000-000000000000',
      groupsClaim: ['resource_access', 'gateway', 'roles'],
      allowedDomains: ['example.com', 'example.org'],
      ownerGroups: ['Platform', 'SRE'],
      defaultRole: 'developer',
      sessionMinutes: 720,
      keyGraceDays: 1,
    });
  });

  it('accept PUBLIC_URL with the path of PUBLIC_PATH, and http on loopback', () => {
    const urlOf = (url: string, path: string): string | undefined =>
      read({ ...MINIMAL, PUBLIC_URL: url }, path)?.publicUrl;
    expect(urlOf('https://gateway.example.com', '/signalbox')).toBe('https://gateway.example.com/signalbox');
    expect(urlOf('https://gateway.example.com/signalbox/', '/signalbox')).toBe(
      'https://gateway.example.com/signalbox',
    );
    expect(urlOf('http://localhost:3000', '')).toBe('http://localhost:3000');
    expect(urlOf('http://127.0.0.1:3000/', '')).toBe('http://127.0.0.1:3000');
  });

  it.each<[string, Record<string, string>, string]>([
    ['no PUBLIC_URL', { PUBLIC_URL: '' }, 'PUBLIC_URL must be set'],
    ['PUBLIC_URL by http', { PUBLIC_URL: 'http://gateway.example.com' }, 'PUBLIC_URL must be the origin'],
    [
      'PUBLIC_URL with a path',
      { PUBLIC_URL: 'https://gateway.example.com/x' },
      'PUBLIC_URL must be the origin',
    ],
    [
      'PUBLIC_URL with a user',
      { PUBLIC_URL: 'https://a@gateway.example.com' },
      'PUBLIC_URL must be the origin',
    ],
    ['no issuer', { OIDC_ISSUER: '' }, 'OIDC_ISSUER must be set'],
    ['no client', { OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID must be set'],
    ['an issuer by http', { OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER must be an https address'],
    [
      'a discovery address',
      { OIDC_ISSUER: 'https://id.example.com/.well-known/openid-configuration' },
      'OIDC_ISSUER must be an https address',
    ],
    [
      'any tenant',
      { OIDC_ISSUER: 'https://login.microsoftonline.com/common/v2.0' },
      'OIDC_ISSUER must name one tenant',
    ],
    [
      'a template',
      { OIDC_ISSUER: 'https://login.microsoftonline.com/{tenantid}/v2.0' },
      'OIDC_ISSUER must name one tenant',
    ],
    ['scopes without openid', { OIDC_SCOPES: 'email' }, 'OIDC_SCOPES must be scopes'],
    [
      'a role that being first could give',
      { OIDC_DEFAULT_ROLE: 'owner' },
      'OIDC_DEFAULT_ROLE must be one of none, viewer, developer',
    ],
    [
      'a short session',
      { OIDC_SESSION_MINUTES: '4' },
      'OIDC_SESSION_MINUTES must be a whole number from 5 to 720',
    ],
    ['a long session', { OIDC_SESSION_MINUTES: '721' }, 'OIDC_SESSION_MINUTES must be'],
    [
      'a domain with an at',
      { OIDC_ALLOWED_DOMAINS: 'ann@example.com' },
      'OIDC_ALLOWED_DOMAINS must be domains',
    ],
    ['an account by name', { OIDC_ACCOUNT: 'Main' }, 'OIDC_ACCOUNT must be the id of an account'],
    ['both forms', { OIDC_PROVIDERS_FILE: '/x.yaml' }, 'OIDC_PROVIDERS_FILE and OIDC_ISSUER are both set'],
  ])('stop the start: %s', (_name, environment, message) => {
    expect(() => read({ ...MINIMAL, ...environment })).toThrow(ConfigError);
    expect(() => read({ ...MINIMAL, ...environment })).toThrow(message);
  });
});

describe('OIDC_PROVIDERS_FILE', () => {
  const ONE = `- id: staff\n  issuer: https://id.example.com\n  client_id: gateway\n  client_secret: ${SECRET}\n`;
  const TWO = `${ONE}- id: partners\n  issuer: http://127.0.0.1:9/realms/x\n  client_id: other\n  allowed_domains: [example.org]\n  session_minutes: 15\n`;

  it('configures several providers', () => {
    expect(readFileOf(TWO)?.providers).toMatchObject([
      { id: 'staff', clientSecret: SECRET, sessionMinutes: 60 },
      { id: 'partners', clientSecret: null, allowedDomains: ['example.org'], sessionMinutes: 15 },
    ]);
  });

  it('reads a secret from a file of its own', () => {
    const file = fileOf(`${SECRET}\n`);
    const text = ONE.replace(`client_secret: ${SECRET}`, `client_secret_file: ${file}`);
    expect(readFileOf(text)?.providers[0]?.clientSecret).toBe(SECRET);
  });

  it('may have one issuer for several accounts, and not twice for one', () => {
    const account = '0199a1b2-0000-7000-8000-000000000000';
    const other = ONE.replace('staff', 'others');
    expect(readFileOf(`${ONE}${other}  account: ${account}\n`)?.providers).toHaveLength(2);
    expect(() => readFileOf(ONE + other)).toThrow('two providers have the same issuer');
  });

  it.each([
    ['no list', 'id: staff', 'must be a YAML list'],
    ['an empty list', '[]', 'must be a YAML list'],
    ['an unknown member', `${ONE}  issuers: x`, 'provider 1: "issuers" is no member of a provider'],
    ['no id', ONE.replace('id: staff', 'name: Staff'), 'provider 1: id must be'],
    ['an id for a path', ONE.replace('id: staff', 'id: ../staff'), 'provider 1: id must be'],
    ['an id twice', ONE + ONE.replace('id.example', 'id2.example'), 'two providers have the same id'],
    ['a wrong member', `${ONE}  session_minutes: 3`, 'provider 1: session_minutes must be a whole number'],
    ['an object for a text', `${ONE}  name: {a: 1}`, 'provider 1: name must be one line'],
    ['broken YAML', `${ONE}  name: "`, 'is not valid YAML'],
  ])('stops the start: %s', (_name, text, message) => {
    let thrown: unknown;
    try {
      readFileOf(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigError);
    expect(String(thrown)).toContain(message);
    expect(String(thrown)).not.toContain(SECRET);
  });
});
