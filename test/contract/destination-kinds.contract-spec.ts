// Promises of every destination kind. A new kind is tested because it is in the list.
import { describe, expect, it } from '@jest/globals';
import { readFile, readdir } from 'node:fs/promises';
import { maskConfig, parseConfig } from '../../src/destination-kinds/shared/destination-kind.js';
import type { DestinationKind } from '../../src/destination-kinds/shared/destination-kind.js';
import {
  DESTINATION_KINDS,
  DESTINATION_TYPES,
  findDestinationKind,
} from '../../src/destination-kinds/index.js';
import { CreateDestinationDto } from '../../src/destinations/dto/destination-bodies.dto.js';
import { RequestValidationPipe } from '../../src/http/fields/validation.pipe.js';
import { CONTRACT_KINDS, shownConfig } from '../support/deliveries/contract-kinds.js';

const KINDS_FOLDER = new URL('../../src/destination-kinds/', import.meta.url);
// Shared files of all kinds; those of some kinds are in folders.
const NOT_A_KIND = new Set([
  'config-fields',
  'delivery',
  'delivery-outcome',
  'destination-kind',
  'index',
  'trace-json',
]);
const LONG_SECRET = 'a-secret-0123456789';

type Config = Readonly<Record<string, unknown>>;

/** Validates like a creation. Throws the 400. */
async function validate(kind: DestinationKind, config: Config): Promise<Config> {
  const body = { type: kind.type, name: 'Test', config: { ...config } };
  const dto = await new RequestValidationPipe().transform(body, {
    type: 'body',
    metatype: CreateDestinationDto,
  });
  return { ...(dto as CreateDestinationDto).config };
}

const without = (config: Config, field: string): Config =>
  Object.fromEntries(Object.entries(config).filter(([name]) => name !== field));

describe('the list', () => {
  it("equals the contract's, in its order", () => {
    expect(DESTINATION_KINDS.map(({ type, neutralType }) => ({ type, neutralType }))).toEqual(
      CONTRACT_KINDS.map(({ type, neutralType }) => ({ type, neutralType })),
    );
    expect(DESTINATION_KINDS).toHaveLength(17);
  });

  it('is alphabetical, and has every token once', () => {
    const tokens = DESTINATION_KINDS.map(({ type }) => type);
    expect(tokens).toEqual(tokens.toSorted());
    expect(new Set(DESTINATION_TYPES).size).toBe(DESTINATION_TYPES.length);
    expect(DESTINATION_TYPES).toHaveLength(32);
  });

  it('contains every file of the folder, named after its token', async () => {
    const files = (await readdir(KINDS_FOLDER, { withFileTypes: true }))
      .filter((entry) => entry.isFile() && !entry.name.includes('.spec.'))
      .map(({ name }) => name.replace(/\.ts$/, ''))
      .filter((name) => !NOT_A_KIND.has(name));
    expect(files.toSorted()).toEqual(DESTINATION_KINDS.map(({ type }) => type).toSorted());
  });

  it('finds a kind by both of its spellings only', () => {
    for (const kind of DESTINATION_KINDS) {
      expect(findDestinationKind(kind.type)).toBe(kind);
      if (kind.neutralType !== null) expect(findDestinationKind(kind.neutralType)).toBe(kind);
    }
    for (const token of ['', 'Langfuse', 'kind_16', 'constructor', '__proto__']) {
      expect(findDestinationKind(token)).toBeUndefined();
    }
  });
});

describe.each(DESTINATION_KINDS.map((kind) => ({ kind, type: kind.type })))('$type', ({ kind }) => {
  const contract = CONTRACT_KINDS.find(({ type }) => type === kind.type)!;
  const { filled, present = [], filledIfGiven = [], optional = [], defaults, secrets } = contract;
  const required = [...filled, ...present];
  const maySayNothing = [...present, ...optional, ...Object.keys(defaults)].filter(
    (field) => !filledIfGiven.includes(field),
  );
  const fields = [...new Set([...required, ...filledIfGiven, ...optional, ...Object.keys(defaults)])];
  /** A config with every field of the kind. */
  const whole: Config = {
    ...Object.fromEntries(optional.map((field) => [field, 'text'])),
    ...(filledIfGiven.includes('endpoint') ? { endpoint: 'https://store.example.com' } : {}),
    ...defaults,
    ...kind.example,
    headers: { 'X-Secret': LONG_SECRET },
  };

  it('has a display name', () => {
    expect(kind.platform).toMatch(/^[A-Z&]/);
  });

  it('has a page that documents every field, and what to do about blank columns', async () => {
    const page = await readFile(new URL(`../../docs/destinations/${kind.type}.md`, import.meta.url), 'utf8');
    for (const field of [...required, ...Object.keys(defaults)]) expect(page).toContain(`\`${field}\``);
    expect(page).toContain('## Not showing what you expect?');
  });

  it('has a valid example with every required field', async () => {
    expect(await validate(kind, kind.example)).toEqual({ ...defaults, ...kind.example });
    expect(Object.keys(kind.example)).toEqual(expect.arrayContaining(required));
  });

  it('accepts every field of the contract, headers included, and no other', async () => {
    expect(Object.keys(whole).toSorted()).toEqual([...fields, 'headers'].toSorted());
    expect(await validate(kind, whole)).toEqual(whole);
    await expect(validate(kind, { ...kind.example, unknownField: 'x' })).rejects.toThrow(
      'config.unknownField: is not a member of this object',
    );
  });

  it('rejects a missing required field by its path', async () => {
    for (const field of required) {
      await expect(validate(kind, without(kind.example, field))).rejects.toThrow(
        `config.${field}: must be a string`,
      );
    }
  });

  it('rejects an empty text where the contract requires a character, and accepts it elsewhere', async () => {
    for (const field of [...filled, ...filledIfGiven]) {
      await expect(validate(kind, { ...kind.example, [field]: '' })).rejects.toThrow(`config.${field}: must`);
    }
    for (const field of filled) {
      await expect(validate(kind, { ...kind.example, [field]: '' })).rejects.toThrow('must not be empty');
    }
    for (const field of maySayNothing) {
      expect(await validate(kind, { ...kind.example, [field]: '' })).toMatchObject({ [field]: '' });
    }
  });

  it('rejects values that are not text, without showing them', async () => {
    for (const field of fields) {
      for (const value of [null, 7, true, [LONG_SECRET], { secret: LONG_SECRET }]) {
        const rejection = validate(kind, { ...kind.example, [field]: value });
        await expect(rejection).rejects.toThrow(`config.${field}: must`);
        await expect(rejection).rejects.not.toThrow(LONG_SECRET);
      }
    }
  });

  it('masks every secret field and header value, and shows the rest', () => {
    const secretive: Config = {
      ...whole,
      ...Object.fromEntries(secrets.map((field) => [field, LONG_SECRET])),
    };
    const masked = maskConfig(kind, secretive);
    expect(JSON.stringify(masked)).not.toContain(LONG_SECRET);
    expect(masked).toEqual({ ...shownConfig(contract, secretive), headers: { 'X-Secret': 'a-se...6789' } });
    // The original stays usable for deliveries.
    expect(JSON.stringify(secretive)).toContain(LONG_SECRET);
  });

  it("reads a stored config back as validated, and gives an older one today's defaults", () => {
    expect({ ...parseConfig(kind, whole) }).toEqual(whole);
    expect(parseConfig(kind, whole)).toBeInstanceOf(kind.configClass);
    expect({ ...parseConfig(kind, kind.example) }).toEqual({ ...defaults, ...kind.example });
    expect(Object.keys(new kind.configClass())).toEqual(Object.keys(defaults));
  });

  it('rejects a stored config without a required field, naming the field and no value', () => {
    for (const field of required) {
      const stored = without(
        { ...kind.example, ...Object.fromEntries(secrets.map((name) => [name, LONG_SECRET])) },
        field,
      );
      expect(() => parseConfig(kind, stored)).toThrow(
        new RegExp(`^stored ${kind.type} config is invalid: .*${field}`),
      );
      expect(() => parseConfig(kind, stored)).not.toThrow(LONG_SECRET);
    }
  });
});

describe('rules of single kinds', () => {
  const kind = (type: string): DestinationKind => findDestinationKind(type)!;

  it.each([
    'https://key@sentry.io/1',
    'https://key:secret@o1.ingest.sentry.io/42',
    'https://key@host.example.com:8443/some/path/42/',
  ])('accept the DSN %s', async (dsn) => {
    expect(await validate(kind('sentry'), { dsn, otlpEndpoint: '' })).toMatchObject({ dsn });
  });

  it.each([
    'http://key@sentry.io/1',
    'https://sentry.io/1',
    'https://key@sentry.io/',
    'https://key@sentry.io/x',
    'key',
  ])('reject the DSN %s', async (dsn) => {
    await expect(validate(kind('sentry'), { dsn, otlpEndpoint: '' })).rejects.toThrow(
      'config.dsn: must be a DSN',
    );
  });

  const ENDPOINT = 'https://o1.ingest.us.sentry.io/api/42/integration/otlp/v1/traces';
  const otherThan = (from: string, to: string): string => ENDPOINT.replace(from, to);

  it.each([
    ['o1.ingest.us.sentry.io', ENDPOINT],
    // Like older DSNs.
    ['sentry.io', ENDPOINT],
    ['o1.ingest.sentry.io', ENDPOINT],
    ['o1.ingest.us.sentry.io', 'o1.ingest.us.sentry.io'],
    ['o1.ingest.us.sentry.io', 'https://o1.ingest.us.sentry.io/otlp'],
    ['sentry.example.com:9000', 'https://sentry.example.com/path/api/42/integration/otlp'],
    ['o1.ingest.us.sentry.io', ''],
  ])('accept for a DSN on %s the endpoint %s', async (host, otlpEndpoint) => {
    const config = { dsn: `https://key@${host}/42`, otlpEndpoint };
    expect(await validate(kind('sentry'), config)).toMatchObject(config);
  });

  it.each([
    ["must be on the DSN's host", 'o1.ingest.de.sentry.io', ENDPOINT],
    ["must be on the DSN's host", 'o1.ingest.us.sentry.io', otherThan('o1.', 'o2.')],
    ["must be on the DSN's host", 'o1.ingest.us.sentry.io', otherThan('sentry.io', 'sentry.io.example.com')],
    ["must be on the DSN's host", 'sentry.example.com', ENDPOINT],
    ["must be of the DSN's project", 'o1.ingest.us.sentry.io', otherThan('/42/', '/43/')],
  ])('report for an endpoint %s: %s, %s', async (problem, host, otlpEndpoint) => {
    const config = { dsn: `https://key@${host}/42`, otlpEndpoint };
    await expect(validate(kind('sentry'), config)).rejects.toThrow(`config.otlpEndpoint: ${problem}`);
    expect(() => parseConfig(kind('sentry'), config)).not.toThrow();
  });

  it.each([
    ['arize', 'apiKey'],
    ['arize', 'spaceKey'],
    ['braintrust', 'apiKey'],
    ['clickhouse', 'username'],
    ['clickhouse', 'password'],
    ['datadog', 'apiKey'],
    ['langsmith', 'apiKey'],
    ['langsmith', 'workspaceId'],
    ['newrelic', 'licenseKey'],
    ['opik', 'apiKey'],
    ['opik', 'workspace'],
    ['ramp', 'apiKey'],
    ['snowflake', 'token'],
  ])('reject for %s, field %s, values that no header can hold, and read stored ones', async (type, field) => {
    const pasted = type === 'clickhouse' ? ['a key\n', '\u007f'] : ['a key\n', 'a…key', '\u007f'];
    for (const value of pasted) {
      const config = { ...kind(type).example, [field]: value };
      await expect(validate(kind(type), config)).rejects.toThrow(
        `config.${field}: has characters that a header cannot hold`,
      );
      expect(parseConfig(kind(type), config)).toMatchObject({ [field]: value });
    }
  });

  it('accept any letters in a ClickHouse password', async () => {
    const config = { ...kind('clickhouse').example, password: 'пароль…' };
    expect(await validate(kind('clickhouse'), config)).toMatchObject(config);
  });

  it('read headers that were stored before they were reserved', () => {
    const config = { ...kind('webhook').example, headers: { Expect: '100-continue' } };
    expect(parseConfig(kind('webhook'), config)).toMatchObject(config);
  });

  it('reject a DSN that is made to be slow in linear time', async () => {
    const dsn = `https://key@host${'/a'.repeat(50_000)}/x`;
    await expect(validate(kind('sentry'), { dsn, otlpEndpoint: '' })).rejects.toThrow(
      'config.dsn: must be a DSN',
    );
  });

  it.each(['a', 'my_org-account1', 'xy12345.eu-central-1', 'A'.repeat(255)])(
    'accept the Snowflake account %s',
    async (account) => {
      expect(await validate(kind('snowflake'), { account, token: 'x' })).toMatchObject({ account });
    },
  );

  it.each(['a--b', '-a', 'a-', 'a..b', 'a b', 'a/b', 'ä', 'A'.repeat(256), `${'a'.repeat(254)}-`])(
    'reject the Snowflake account %s',
    async (account) => {
      await expect(validate(kind('snowflake'), { account, token: 'x' })).rejects.toThrow(
        'config.account: must',
      );
    },
  );

  it.each(['https://minio.example.com', 'http://127.0.0.1:9000', 'https://store.example.com/path?x=1'])(
    'accept the S3 endpoint %s',
    async (endpoint) => {
      const config = { ...kind('s3').example, endpoint };
      expect(await validate(kind('s3'), config)).toMatchObject({ endpoint });
    },
  );

  it.each(['minio', 'ftp://minio', 'https://', 'https:// minio', '//minio'])(
    'reject the S3 endpoint %s',
    async (endpoint) => {
      const config = { ...kind('s3').example, endpoint };
      await expect(validate(kind('s3'), config)).rejects.toThrow('config.endpoint: must be an absolute');
    },
  );
});
