// The container by its files: no root, no shell, no secret, and only its volume is writable.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { PROVIDERS } from '../../src/providers/index.js';
import { readStages } from '../support/image/dockerfile.js';
import type { Instruction } from '../support/image/dockerfile.js';
import { readIgnorePatterns } from '../support/image/ignored-files.js';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The instructions of the last stage, which make up the container. */
const lastStage = (): Instruction[] => readStages().at(-1) ?? [];
const restsOf = (name: string): string[] =>
  lastStage()
    .filter((one) => one.name === name)
    .map(({ rest }) => rest);

interface Compose {
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
const { services } = parse(read('docker-compose.yml')) as Compose;
const service = services['signalbox'] ?? {};
// Names of secrets in ENV, ARG and the composition.
const SECRET = /(?:KEY|KEYS|SECRET|TOKEN|PASSWORD)\b/;

describe('the image', () => {
  it('does not run as root', () => {
    expect(restsOf('USER').at(-1)).toBe('node');
    const stage = lastStage();
    const user = stage.findLastIndex(({ name }) => name === 'USER');
    expect(stage.slice(user).some(({ name }) => ['RUN', 'COPY', 'ADD'].includes(name))).toBe(false);
  });

  it('starts without a shell', () => {
    const [command = ''] = restsOf('CMD');
    expect(JSON.parse(command)).toEqual(['node', '--max-semi-space-size=32', 'scripts/serve.mjs']);
    expect(restsOf('ENTRYPOINT').every((rest) => rest.startsWith('['))).toBe(true);
    expect(restsOf('HEALTHCHECK').every((rest) => /CMD \["node"/.test(rest))).toBe(true);
  });

  it('contains the OpenAPI document, which the service serves', () => {
    expect(restsOf('COPY')).toContain('openapi.json ./');
  });

  it('is built from what a fresh checkout has', () => {
    // Docker wants ** for a name at any depth.
    const unversioned = read('.gitignore')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/\/$/, ''))
      .map((line) => (line.includes('/') ? line : `**/${line}`));
    expect(readIgnorePatterns()).toEqual(expect.arrayContaining(unversioned));
  });

  it('contains neither tests nor the lab', () => {
    expect(readIgnorePatterns()).toEqual(expect.arrayContaining(['lab', 'test']));
  });

  it('contains no secret, neither given nor copied', () => {
    const text = read('Dockerfile');
    for (const [line] of text.matchAll(/^(?:ENV|ARG) .*$/gm)) expect(line).not.toMatch(SECRET);
    // Named one by one: a whole folder would include .data and .env.
    for (const [line] of text.matchAll(/^COPY .*$/gm)) expect(line).not.toMatch(/COPY (?:--\S+ )*\.\/? /);
    expect(text).not.toMatch(/^ADD /m);
  });
});

describe('the composition', () => {
  it('lets the service write to its volume only', () => {
    expect(service['read_only']).toBe(true);
    expect(service['privileged']).toBeUndefined();
    expect(service['cap_add']).toBeUndefined();
    expect(service['tmpfs']).toEqual(['/tmp']);
  });

  it('passes on every variable that the service reads or the documentation names', () => {
    const settings = read('src/config/app-config.ts') + read('src/config/limits-config.ts');
    const names = [...settings.matchAll(/\bread\.\w+\([^)]*?'([A-Z_]+)'/g)].map(([, name]) => name ?? '');
    const ofProviders = PROVIDERS.filter(({ slug }) => slug !== 'local').flatMap(({ slug }) => {
      const prefix = slug.toUpperCase().replaceAll('-', '_');
      return [`${prefix}_API_KEY`, `${prefix}_BASE_URL`];
    });
    const [configure = ''] = /^## Configure\n.*?(?=^## )/ms.exec(read('docs/operating.md')) ?? [];
    // Without the variants that name a file of a secret: an overriding composition mounts those.
    const documented = [...configure.matchAll(/`([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)\b[=`]/g)]
      .map(([, name = '']) => name)
      .filter((name) => !name.endsWith('_FILE'));
    // The container's own variables, and an example of a wrong name.
    const left = new Set(['HOST', 'PORT', 'OPENAI_APIKEY']);
    const wanted = [...names, ...ofProviders, ...documented].filter((name) => !left.has(name));
    expect(documented.length).toBeGreaterThan(100);
    expect(Object.keys(service['environment'] ?? {})).toEqual(expect.arrayContaining(wanted));
  });

  it('mounts the folder of files that variables name', () => {
    expect(service['volumes']).toContain('./deploy/config:/config:ro');
  });

  it('uses only what Docker Compose 1.29 knows', () => {
    const composition = parse(read('docker-compose.yml')) as Compose;
    expect(Object.keys(composition).toSorted()).toEqual(['services', 'volumes']);
    // Its substitutions: a default, or an error.
    for (const [substitution] of read('docker-compose.yml').matchAll(/\$\{[^}]*\}/g))
      expect(substitution).toMatch(/^\$\{[A-Z_]+(?::?[-?][^}]*)?\}$/);
  });

  it('publishes the service, and nothing else beyond loopback', () => {
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      (ports as readonly string[]).map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['signalbox', '${PORT:-3000}:3000'],
      ['grafana', '127.0.0.1:${GRAFANA_PORT:-3001}:3000'],
    ]);
  });

  it('has no default password for Grafana', () => {
    expect(services['grafana']?.['environment']).toMatchObject({ GRAFANA_PASSWORD: '${GRAFANA_PASSWORD:-}' });
    expect(read('docker-compose.yml')).not.toMatch(/^ *GF_SECURITY_ADMIN_PASSWORD:/m);
  });

  it('gives the service a role of the database that is no superuser', () => {
    const { environment } = services['postgres'] ?? {};
    expect(environment).toEqual({ POSTGRES_PASSWORD: '${POSTGRES_PASSWORD:-signalbox}' });
    expect(service['depends_on']).toEqual({
      'database-role': { condition: 'service_completed_successfully' },
    });
    const { image, command, volumes, environment: ofRole } = services['database-role'] ?? {};
    expect([image, command, volumes]).toEqual([
      'signalbox',
      ['node', 'role.mjs'],
      ['./deploy/postgres/role.mjs:/app/role.mjs:ro'],
    ]);
    const script = read('deploy/postgres/role.mjs');
    expect(script).toMatch(/CREATE ROLE \$\{role\} LOGIN NOSUPERUSER/);
    expect(script).toMatch(/CREATE DATABASE \$\{database\} OWNER \$\{role\}/);
    // The password of the superuser reaches this process and no other.
    expect(Object.keys(ofRole as object)).toEqual(['DATABASE_URL', 'SUPERUSER_URL']);
    expect(Object.keys(service['environment'] as object)).not.toContain('SUPERUSER_URL');
  });

  it('takes secrets from outside', () => {
    const environment = service['environment'] as Readonly<Record<string, string>>;
    for (const [name, value] of Object.entries(environment).filter(([one]) => SECRET.test(one)))
      expect([name, value]).toEqual([name, `\${${name}:-}`]);
  });
});
