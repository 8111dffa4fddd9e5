import { describe, expect, it } from '@jest/globals';
import { readAppConfig } from './app-config.js';
import { ConfigError } from './environment-reader.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const MINIMAL = { DATABASE_URL: 'postgresql://user@127.0.0.1:5432/signalbox', ENCRYPTION_KEYS: KEY };
const read = (environment: Record<string, string>) =>
  readAppConfig({ ...MINIMAL, ...environment }, ['openai']);

describe('the environment', () => {
  it('has a default for every variable except the database and the encryption keys', () => {
    expect(read({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      workers: 1,
      maxBodyBytes: 1024 * 1024,
      maxEmbeddingsBodyBytes: 20 * 1024 * 1024,
      rateLimits: { management: 600, inference: 6000 },
      destinationAllowedCidrs: [],
      retention: { generationDays: 90, contentHours: 24, auditDays: 365 },
    });
  });

  it('keeps the log for ever with 0 days, and stores no contents with 0 hours', () => {
    expect(
      read({ GENERATION_RETENTION_DAYS: '0', CONTENT_RETENTION_HOURS: '0', AUDIT_RETENTION_DAYS: '0' }),
    ).toMatchObject({ retention: { generationDays: 0, contentHours: 0, auditDays: 0 } });
    expect(read({ GENERATION_RETENTION_DAYS: '' }).retention.generationDays).toBe(90);
  });

  it('applies MAX_BODY_BYTES to every operation', () => {
    expect(read({ MAX_BODY_BYTES: '5000' })).toMatchObject({
      maxBodyBytes: 5000,
      maxEmbeddingsBodyBytes: 5000,
    });
  });

  it('refuses calls whose records could come an hour after their start', () => {
    const longest = 2_700_000;
    expect(read({ CHAT_DEADLINE_MS: `${longest}` }).chat.deadline).toBe(longest);
    expect(read({ OPERATION_DEADLINE_MS: `${longest}` }).operationDeadline).toBe(longest);
    for (const name of ['CHAT_DEADLINE_MS', 'OPERATION_DEADLINE_MS'])
      expect(() => read({ [name]: `${longest + 1}` })).toThrow(
        `${name} must be a whole number from 100 to ${longest}`,
      );
  });

  it('reads the two variables of every provider and drops a trailing slash', () => {
    expect(
      read({ OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' }).providers.get('openai'),
    ).toEqual({
      apiKey: 'sk',
      baseUrl: 'http://127.0.0.1:9/v1',
    });
  });

  it('ignores variables of other programs', () => {
    expect(() => read({ ELSEWHERE_BASE_URL: 'nonsense' })).not.toThrow();
  });

  it('reads the hosts that may receive codes', () => {
    expect(read({}).authCallbackHosts).toEqual([]);
    expect(read({ AUTH_CALLBACK_HOSTS: 'App.example.com, dev.example.com:8443' })).toMatchObject({
      authCallbackHosts: ['app.example.com', 'dev.example.com:8443'],
    });
  });

  it('reads the origins that may call from a browser', () => {
    expect(read({}).corsAllowedOrigins).toEqual([]);
    expect(read({ CORS_ALLOWED_ORIGINS: 'https://a.example, http://localhost:5173,*' })).toMatchObject({
      corsAllowedOrigins: ['https://a.example', 'http://localhost:5173', '*'],
    });
  });

  it('reads the path below which a proxy serves it, with and without a slash at its end', () => {
    const pathOf = (text: string) => read({ PUBLIC_PATH: text }).publicPath;
    expect(['', '/', '/signalbox', '/tools/sb_1.x/', '/keys-of-us'].map(pathOf)).toEqual([
      '',
      '',
      '/signalbox',
      '/tools/sb_1.x',
      '/keys-of-us',
    ]);
  });

  it.each<[boolean, Record<string, string>]>([
    [false, {}],
    [false, { OTEL_SERVICE_NAME: 'signalbox' }],
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }],
  ])('traces the service only with a collector: %s with %j', (tracesItself, environment) => {
    expect(read(environment)).toMatchObject({ tracesItself });
  });

  it('reads the address of the history, its database, user and password', () => {
    expect(read({}).history).toBeUndefined();
    expect(read({ HISTORY_CLICKHOUSE_URL: 'http://clickhouse:8123' }).history).toEqual({
      origin: 'http://clickhouse:8123',
      database: 'signalbox',
      username: 'default',
      password: '',
      hasContents: false,
    });
    expect(
      read({ HISTORY_CLICKHOUSE_URL: 'https://me:p%40ss%2Fword@ch.example:8443/calls' }).history,
    ).toEqual({
      origin: 'https://ch.example:8443',
      database: 'calls',
      username: 'me',
      password: 'p@ss/word',
      hasContents: false,
    });
  });

  it('lets contents go to a history where the operator says so, and one is kept', () => {
    const address = { HISTORY_CLICKHOUSE_URL: 'http://clickhouse:8123' };
    expect(read({ ...address, HISTORY_CONTENTS: 'true' }).history?.hasContents).toBe(true);
    expect(read({ HISTORY_CONTENTS: 'false' }).history).toBeUndefined();
    const failure = (environment: Record<string, string>) => (): unknown =>
      read({ HISTORY_CONTENTS: 'true', ...environment });
    expect(failure({})).toThrow(/^HISTORY_CONTENTS needs HISTORY_CLICKHOUSE_URL: [^\n]+$/);
    expect(failure({ ...address, CONTENT_RETENTION_HOURS: '0' })).toThrow(
      /^HISTORY_CONTENTS needs CONTENT_RETENTION_HOURS of at least 1: [^\n]+$/,
    );
    expect(failure({ ...address, HISTORY_CONTENTS: 'yes' })).toThrow(
      'HISTORY_CONTENTS must be one of true, false',
    );
  });

  it.each([
    'clickhouse:8123',
    'tcp://clickhouse:9000',
    'http://clickhouse/calls?secret=1',
    'http://clickhouse/`; DROP DATABASE x',
    'http://clickhouse/a/b',
    'http://user:%@clickhouse',
  ])('rejects %s as the address of the history, without repeating it', (address) => {
    const failure = (): unknown => read({ HISTORY_CLICKHOUSE_URL: address });
    expect(failure).toThrow(ConfigError);
    expect(failure).toThrow(/^HISTORY_CLICKHOUSE_URL must be an address such as https:\/\/user:password@/);
  });

  it('reads the ids of the accounts of operators, none without the variable', () => {
    const [one, other] = ['6f9619ff-8b86-4d01-b42d-00c04fc964ff', '6f9619ff-8b86-4d01-b42d-00c04fc964fe'];
    expect(read({ OPERATOR_ACCOUNTS: `${one.toUpperCase()}, ${other}` }).operatorAccounts).toEqual([
      one,
      other,
    ]);
    expect(read({}).operatorAccounts).toEqual([]);
    expect(read({ OPERATOR_ACCOUNTS: ' ' }).operatorAccounts).toEqual([]);
  });

  it('treats an empty variable as unset', () => {
    expect(read({ PORT: '', REDIS_URL: ' ' })).toMatchObject({ port: 3000 });
  });

  it('derives an id for every encryption key and keeps their order', () => {
    const second = Buffer.alloc(32, 8).toString('base64');
    const { encryptionKeys } = read({ ENCRYPTION_KEYS: `${KEY}, ${second}` });
    expect(encryptionKeys.map((key) => key.bytes[0])).toEqual([7, 8]);
    expect(new Set(encryptionKeys.map((key) => key.id)).size).toBe(2);
  });

  it.each([
    ['OPENAI_API_KEY', 'sk-one\nsk-two'],
    ['OPENAI_API_KEY', 'sk-o…pasted'],
    ['OPENAI_BASE_URL', 'https://api.example.com/v1#part'],
    ['OPENAI_BASE_URL', 'https://user:50%@api.example.com/v1'],
    ['PORT', '70000'],
    ['PORT', '3000.5'],
    ['PORT', '-1'],
    ['WORKERS', '0'],
    ['GENERATION_RETENTION_DAYS', '1'],
    ['GENERATION_RETENTION_DAYS', '-1'],
    ['CONTENT_RETENTION_HOURS', '25'],
    ['AUDIT_RETENTION_DAYS', 'a year'],
    ['LOG_LEVEL', 'loud'],
    ['MAX_BODY_BYTES', 'many'],
    ['DATABASE_URL', 'mysql://host/db'],
    ['DATABASE_URL', 'not an address'],
    ['DATABASE_URL', 'postgresql://a:5432,b:port/db'],
    ['DATABASE_URL', 'postgresql://a,b/db?target_session_attrs=standby'],
    ['DATABASE_DIRECT_URL', 'mysql://host/db'],
    ['REDIS_URL', 'http://host'],
    ['OPENAI_BASE_URL', 'api.example.com'],
    ['DESTINATION_ALLOWED_CIDRS', '10.0.0.0'],
    ['DESTINATION_ALLOWED_CIDRS', '10.0.0.0/33'],
    ['DESTINATION_ALLOWED_CIDRS', '10.0.0.0/8,fd00::/129'],
    ['TRUSTED_PROXIES', 'proxy.example.com'],
    ['TRUSTED_PROXIES', '10.0.0.0/8;192.0.2.0/24'],
    ['OPERATOR_ACCOUNTS', 'ours'],
    ['OPERATOR_ACCOUNTS', '6f9619ff-8b86-4d01-b42d-00c04fc964ff; 6f9619ff-8b86-4d01-b42d-00c04fc964fe'],
    ['AUTH_CALLBACK_HOSTS', 'https://app.example.com'],
    ['AUTH_CALLBACK_HOSTS', 'app.example.com/callback'],
    ['AUTH_CALLBACK_HOSTS', 'user@app.example.com'],
    ['AUTH_CALLBACK_HOSTS', 'app.example.com:443'],
    ['CORS_ALLOWED_ORIGINS', 'dashboard.example.com'],
    ['CORS_ALLOWED_ORIGINS', 'https://dashboard.example.com/'],
    ['CORS_ALLOWED_ORIGINS', 'https://dashboard.example.com,https://*.example.com/x'],
    ['CORS_ALLOWED_ORIGINS', 'https://dashboard.example.com:443'],
    ['CORS_ALLOWED_ORIGINS', 'null'],
    ['PUBLIC_PATH', 'signalbox'],
    ['PUBLIC_PATH', '//signalbox'],
    ['PUBLIC_PATH', '/a/../b'],
    ['PUBLIC_PATH', '/a b'],
    ['PUBLIC_PATH', '/a?b'],
    ['PUBLIC_PATH', '/a"><script>'],
    ['PUBLIC_PATH', '/keys/of/us'],
    ['PUBLIC_PATH', '/api'],
    ['METRICS_BEARER_TOKEN', 'short'],
    ['METRICS_BEARER_TOKEN', 'with a space in the middle'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'not an address'],
    ['ENCRYPTION_KEYS', 'c2hvcnQ='],
    ['ENCRYPTION_KEYS', `${KEY},`],
  ])('rejects %s=%s in one line that names the variable and not the value', (name, value) => {
    const rejected = () => read({ [name]: value });
    expect(rejected).toThrow(ConfigError);
    expect(rejected).toThrow(new RegExp(`^${name} must [^\\n]*$`));
  });

  it.each(['DATABASE_URL', 'ENCRYPTION_KEYS'])('requires %s', (name) => {
    expect(() => read({ [name]: '' })).toThrow(new RegExp(`^${name} must be set`));
  });
});
