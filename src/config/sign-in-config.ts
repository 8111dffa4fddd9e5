// Issuers of OpenID Connect that sign people in to the console (docs/sign-in.md): one by variables, or several by a file.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isObject } from '../domain/members.js';
import { isLoopbackHost } from '../domain/people/console-session.js';
import { ACCOUNT_ID, ConfigError } from './environment-reader.js';
import type { EnvironmentReader } from './environment-reader.js';

const FILE_VARIABLE = 'OIDC_PROVIDERS_FILE';
const MAX_FILE_BYTES = 256 * 1024;
const MAX_PROVIDERS = 20;
const MAX_NAMES = 100;
const MAX_LENGTH = 1_000;
/** The id of the provider that variables configure. */
const ONLY_ID = 'oidc';

const DEFAULT_ROLES = ['none', 'viewer', 'developer'] as const;
const PROVIDER_ID = /^[a-z\d](?:[a-z\d-]{0,30}[a-z\d])?$/;
const DOMAIN = /^(?=.{1,253}$)[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)+$/;
// Segments of Entra's addresses that stand for any tenant.
const ANY_TENANT =
  /\{tenantid\}|^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i;

export interface SignInProviderConfig {
  /** Part of the redirect address. */
  readonly id: string;
  /** On the button of the sign-in page. */
  readonly name: string;
  /** Compared exactly with the one that the issuer states. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, by PKCE alone. */
  readonly clientSecret: string | null;
  /** Null: the only account. */
  readonly accountId: string | null;
  readonly scopes: string;
  /** The members that lead to the groups in the claims. */
  readonly groupsClaim: readonly string[];
  /** In lower case; empty: any. */
  readonly allowedDomains: readonly string[];
  /** The account role of persons without a role by groups; null: none. */
  readonly defaultRole: 'viewer' | 'developer' | null;
  readonly ownerGroups: readonly string[];
  readonly sessionMinutes: number;
  readonly keyGraceDays: number;
}

export interface SignInConfig {
  /** The origin of the service as browsers see it. */
  readonly publicOrigin: string;
  /** The origin and PUBLIC_PATH, without a slash at the end. */
  readonly publicUrl: string;
  readonly providers: readonly SignInProviderConfig[];
}

/** The members of a provider as the file names them, and the variables of the single one. */
const VARIABLES = {
  issuer: 'OIDC_ISSUER',
  client_id: 'OIDC_CLIENT_ID',
  client_secret: 'OIDC_CLIENT_SECRET',
  name: 'OIDC_NAME',
  account: 'OIDC_ACCOUNT',
  scopes: 'OIDC_SCOPES',
  groups_claim: 'OIDC_GROUPS_CLAIM',
  allowed_domains: 'OIDC_ALLOWED_DOMAINS',
  default_role: 'OIDC_DEFAULT_ROLE',
  owner_groups: 'OIDC_OWNER_GROUPS',
  session_minutes: 'OIDC_SESSION_MINUTES',
  key_grace_days: 'OIDC_KEY_GRACE_DAYS',
} as const;
type Member = keyof typeof VARIABLES;
const MEMBERS = Object.keys(VARIABLES) as Member[];
const FILE_MEMBERS: ReadonlySet<string> = new Set(['id', 'client_secret_file', ...MEMBERS]);

/** Absent: people do not sign in by an issuer. */
export function readSignInConfig(
  read: EnvironmentReader,
  publicPath: string,
): { readonly signIn?: SignInConfig } {
  const texts = MEMBERS.map((member) => [member, read.optional('value', VARIABLES[member]).value] as const);
  const set = texts.filter(([, value]) => value !== undefined);
  const { file } = read.optional('file', FILE_VARIABLE);
  const [first] = set;
  if (file !== undefined && first !== undefined) {
    throw new ConfigError(`${FILE_VARIABLE} and ${VARIABLES[first[0]]} are both set: keep one`);
  }
  const publicUrl = readPublicUrl(read, publicPath, file !== undefined || first !== undefined);
  if (publicUrl === null) return {};
  const providers = file === undefined ? [readOnly(new Map(set))] : readFile(file);
  return { signIn: { publicOrigin: new URL(publicUrl).origin, publicUrl, providers } };
}

/** Null: there is no issuer, and the address is not needed. */
function readPublicUrl(read: EnvironmentReader, publicPath: string, isNeeded: boolean): string | null {
  const { url } = read.optional('url', 'PUBLIC_URL');
  if (url === undefined) {
    if (!isNeeded) return null;
    throw new ConfigError(
      'PUBLIC_URL must be set for sign-in by an issuer, for example https://gateway.example.com',
    );
  }
  const parsed = parseSecureUrl(url);
  const path = parsed?.pathname.replace(/\/$/, '');
  if (parsed === null || parsed.search !== '' || (path !== '' && path !== publicPath)) {
    throw new ConfigError(
      'PUBLIC_URL must be the origin of the service such as https://gateway.example.com, by http on loopback only; its path is PUBLIC_PATH',
    );
  }
  return isNeeded ? parsed.origin + publicPath : null;
}

/** https, or http on loopback; without user info and fragment. */
function parseSecureUrl(text: string): URL | null {
  if (!URL.canParse(text) || text.includes('#')) return null;
  const url = new URL(text);
  const isSecure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  return isSecure && url.username === '' && url.password === '' ? url : null;
}

function readOnly(texts: ReadonlyMap<Member, string | undefined>): SignInProviderConfig {
  return new ProviderReader(
    ONLY_ID,
    (member) => VARIABLES[member],
    (member) => texts.get(member),
  ).read();
}

function readFile(file: string): readonly SignInProviderConfig[] {
  const list = parseFile(file);
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_PROVIDERS || !list.every(isObject))
    throw new ConfigError(`${FILE_VARIABLE} must be a YAML list of 1 to ${MAX_PROVIDERS} providers`);
  const providers = list.map((entry, index) => readEntry(entry, `${FILE_VARIABLE}: provider ${index + 1}`));
  for (const member of ['id', 'issuer'] as const) {
    const values = providers.map(
      (provider) => `${provider[member]} ${member === 'issuer' ? provider.accountId : ''}`,
    );
    if (new Set(values).size < values.length)
      throw new ConfigError(`${FILE_VARIABLE}: two providers have the same ${member}`);
  }
  return providers;
}

function parseFile(file: string): unknown {
  const text = readText(file, FILE_VARIABLE);
  // Loaded by those alone who have such a file: the delivery process reads the configuration as well.
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  try {
    return parse(text, { maxAliasCount: 0, prettyErrors: false });
  } catch {
    // The parser's words quote the file, which may hold a secret.
    throw new ConfigError(`${FILE_VARIABLE}: is not valid YAML`);
  }
}

function readEntry(entry: Readonly<Record<string, unknown>>, where: string): SignInProviderConfig {
  const unknown = Object.keys(entry).find((member) => !FILE_MEMBERS.has(member));
  if (unknown !== undefined) {
    throw new ConfigError(`${where}: ${JSON.stringify(unknown.slice(0, 64))} is no member of a provider`);
  }
  const { id, client_secret_file: secretFile } = entry;
  if (typeof id !== 'string' || !PROVIDER_ID.test(id)) {
    throw new ConfigError(`${where}: id must be 1 to 32 lower-case letters, digits and -`);
  }
  if (secretFile !== undefined && entry['client_secret'] !== undefined)
    throw new ConfigError(`${where}: client_secret and client_secret_file are both set: keep one`);
  if (secretFile !== undefined && typeof secretFile !== 'string')
    throw new ConfigError(`${where}: client_secret_file must be the path of a file`);
  const secret =
    secretFile === undefined ? {} : { client_secret: readText(secretFile, `${where}: client_secret_file`) };
  const values: Readonly<Record<string, unknown>> = { ...entry, ...secret };
  return new ProviderReader(
    id,
    (member) => `${where}: ${member}`,
    (member) => values[member],
  ).read();
}

function readText(file: string, name: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new ConfigError(
      `${name}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
  if (bytes.length > MAX_FILE_BYTES)
    throw new ConfigError(`${name}: ${file} has more than ${MAX_FILE_BYTES} bytes`);
  return bytes.toString('utf8').trim();
}

/** Reads the members of one provider. An error names the member and never shows its value. */
class ProviderReader {
  constructor(
    private readonly id: string,
    private readonly nameOf: (member: Member) => string,
    private readonly valueOf: (member: Member) => unknown,
  ) {}

  read(): SignInProviderConfig {
    const issuer = this.issuer();
    return {
      id: this.id,
      name: this.text('name') ?? new URL(issuer).host,
      issuer,
      clientId: this.required('client_id'),
      clientSecret: this.text('client_secret') ?? null,
      accountId: this.account(),
      scopes: this.scopes(),
      groupsClaim: (this.text('groups_claim') ?? 'groups').split('.'),
      allowedDomains: this.domains(),
      defaultRole: this.defaultRole(),
      ownerGroups: this.list('owner_groups'),
      sessionMinutes: this.integer('session_minutes', 60, 5, 720),
      keyGraceDays: this.integer('key_grace_days', 30, 1, 3_650),
    };
  }

  private issuer(): string {
    const issuer = this.required('issuer');
    const url = parseSecureUrl(issuer);
    if (ANY_TENANT.test(issuer)) {
      return this.fail('issuer', 'must name one tenant: any organization could sign in by a shared address');
    }
    if (url === null || url.search !== '' || url.pathname.includes('/.well-known/')) {
      return this.fail(
        'issuer',
        'must be an https address as the issuer states it, by http on loopback only',
      );
    }
    return issuer;
  }

  private account(): string | null {
    const account = this.text('account')?.toLowerCase();
    if (account !== undefined && !ACCOUNT_ID.test(account))
      return this.fail('account', 'must be the id of an account');
    return account ?? null;
  }

  private scopes(): string {
    const scopes = (this.text('scopes') ?? 'openid email profile').split(/\s+/);
    if (!scopes.includes('openid') || !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
      return this.fail('scopes', 'must be scopes with openid among them, separated by spaces');
    return scopes.join(' ');
  }

  private domains(): readonly string[] {
    const domains = this.list('allowed_domains').map((domain) => domain.toLowerCase());
    if (!domains.every((domain) => DOMAIN.test(domain)))
      return this.fail('allowed_domains', 'must be domains such as example.com, separated by commas');
    return domains;
  }

  private defaultRole(): SignInProviderConfig['defaultRole'] {
    const text = this.text('default_role') ?? 'none';
    const role = DEFAULT_ROLES.find((known) => known === text);
    if (role === undefined) return this.fail('default_role', `must be one of ${DEFAULT_ROLES.join(', ')}`);
    return role === 'none' ? null : role;
  }

  private integer(member: Member, fallback: number, least: number, most: number): number {
    const text = this.text(member);
    if (text === undefined) return fallback;
    const number = Number(text);
    if (!/^\d{1,9}$/.test(text) || number < least || number > most)
      return this.fail(member, `must be a whole number from ${least} to ${most}`);
    return number;
  }

  /** A list of YAML, or a text with commas. */
  private list(member: Member): readonly string[] {
    const value = this.valueOf(member);
    const items: readonly unknown[] = Array.isArray(value) ? value : (this.text(member) ?? '').split(',');
    const names = items.map((item) => (typeof item === 'string' ? item.trim() : ''));
    if (names.length > MAX_NAMES || names.some((name) => name.length > MAX_LENGTH))
      return this.fail(member, `must be at most ${MAX_NAMES} names`);
    if (Array.isArray(value) && names.includes('')) return this.fail(member, 'must be a list of texts');
    return names.filter((name) => name !== '');
  }

  private required(member: Member): string {
    return this.text(member) ?? this.fail(member, 'must be set for sign-in by an issuer');
  }

  private text(member: Member): string | undefined {
    const value = this.valueOf(member);
    if (value === undefined || value === null || value === '') return undefined;
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string' || text.length > MAX_LENGTH || !isOneLine(text))
      return this.fail(member, `must be one line of at most ${MAX_LENGTH} characters`);
    return text;
  }

  private fail(member: Member, problem: string): never {
    throw new ConfigError(`${this.nameOf(member)} ${problem}`);
  }
}

function isOneLine(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text);
}
