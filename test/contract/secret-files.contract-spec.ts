import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

interface SecretFilesModule {
  readonly readSecretFiles: (environment: Record<string, string>) => void;
}

/** Plain JavaScript without types, which the compiler must not look for. */
const importPlain = (path: string): Promise<SecretFilesModule> => import(path) as Promise<SecretFilesModule>;

let readSecretFiles: SecretFilesModule['readSecretFiles'];

let directory: string;

beforeAll(async () => {
  ({ readSecretFiles } = await importPlain('../../scripts/support/secret-files.mjs'));
  directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('a variable with _FILE', () => {
  it('gives each secret variable the content of its file', () => {
    const environment: Record<string, string> = {
      DATABASE_URL_FILE: write('database-url', 'postgresql://signalbox@db/signalbox\n'),
      DATABASE_DIRECT_URL_FILE: write('direct-url', 'postgresql://signalbox@primary/signalbox'),
      ENCRYPTION_KEYS_FILE: write('keys', ' one,two \r\n'),
      OPENAI_API_KEY_FILE: write('openai', 'sk-1'),
      OPENAI_COMPATIBLE_BASE_URL_FILE: write('address', 'https://user:password@server/v1'),
      OTEL_EXPORTER_OTLP_HEADERS_FILE: write('headers', 'authorization=Basic x'),
    };
    readSecretFiles(environment);
    expect(environment).toEqual({
      DATABASE_URL: 'postgresql://signalbox@db/signalbox',
      DATABASE_DIRECT_URL: 'postgresql://signalbox@primary/signalbox',
      ENCRYPTION_KEYS: 'one,two',
      OPENAI_API_KEY: 'sk-1',
      OPENAI_COMPATIBLE_BASE_URL: 'https://user:password@server/v1',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic x',
    });
  });

  it('counts as unset when it is empty, and replaces an empty variable', () => {
    const environment: Record<string, string> = {
      REDIS_URL_FILE: ' ',
      DATABASE_URL: '',
      DATABASE_URL_FILE: write('again', 'postgresql://db/x'),
    };
    readSecretFiles(environment);
    expect(environment).toEqual({ REDIS_URL_FILE: ' ', DATABASE_URL: 'postgresql://db/x' });
  });

  it('leaves variables alone that hold no secret', () => {
    const environment = {
      CATALOGUE_FILE: '/etc/catalogue.yaml',
      PORT_FILE: '/nowhere',
      SOME_FILE: '/nowhere',
    };
    const before = { ...environment };
    readSecretFiles(environment);
    expect(environment).toEqual(before);
  });

  it.each([
    [
      'a missing file',
      () => join(directory, 'missing'),
      /^REDIS_URL_FILE: .*missing cannot be read \(ENOENT\)$/,
    ],
    ['a directory', () => directory, /^REDIS_URL_FILE: .* cannot be read \(EISDIR\)$/],
    ['an empty file', () => write('empty', '\n'), /^REDIS_URL_FILE: .*empty is empty$/],
    ['a large file', () => write('large', 'x'.repeat(70_000)), /^REDIS_URL_FILE: .* more than 65536 bytes$/],
  ])('stops the start by %s', (_case, path, message) => {
    expect(() => readSecretFiles({ REDIS_URL_FILE: path() })).toThrow(message);
  });

  it('stops the start beside its variable, without showing a secret', () => {
    const environment = { ENCRYPTION_KEYS: 'secret', ENCRYPTION_KEYS_FILE: write('other', 'hidden') };
    expect(() => readSecretFiles(environment)).toThrow(
      'ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE are both set: keep one',
    );
  });
});

it.each(['serve.mjs', 'migrate.mjs', 'command.mjs', 'start.mjs'])(
  '%s reads secret files first',
  async (script) => {
    const program = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url));
    const child = spawn(process.execPath, [program, 'keys-list'], {
      env: { PATH: process.env['PATH'], DATABASE_URL_FILE: join(directory, 'none') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => printed.push(chunk));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(Buffer.concat(printed).toString()).toContain('DATABASE_URL_FILE: ');
  },
);
