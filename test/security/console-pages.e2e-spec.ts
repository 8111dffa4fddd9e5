// The console's files and pages, and their headers. Contract: docs/contract.md#console.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import supertest from 'supertest';
import { serveConsole } from '../../src/console/pages.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { expectError } from '../support/requests/error-shape.js';
import { writeToSocket } from '../support/requests/raw-requests.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const policyWith = (script = '', style = ''): string =>
  `default-src 'none'; script-src 'self'${script}; style-src 'self'${style}; img-src 'self' data:; font-src 'self'; ` +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const POLICY = policyWith();
const OWN_SCRIPT = 'document.title = "x";';
const OWN_STYLE = 'body { margin: 0 }';
const PAGE = `<!doctype html><script>${OWN_SCRIPT}</script><style>${OWN_STYLE}</style><title>The console</title>`;
const hashOf = (text: string): string => ` 'sha256-${createHash('sha256').update(text).digest('base64')}'`;
/** Its own script and style run, and nothing else inline. */
const POLICY_OF_PAGE = policyWith(hashOf(OWN_SCRIPT), hashOf(OWN_STYLE));
const SCRIPT = 'export const text = "the console";\n';
const SECRET = 'outside of the build';

let app: TestApp;
let root: string;
let directory: string;
const build = (): void => {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(directory, 'index.html'), PAGE);
  writeFileSync(join(directory, 'pages.json'), '["/","/keys","/generations/$id","/models/$author/$slug"]');
  writeFileSync(join(directory, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(directory, 'assets', 'index-A1b2.js'), SCRIPT);
  writeFileSync(join(directory, 'assets', 'logo-A1b2.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  symlinkSync(join(root, 'secret.txt'), join(directory, 'assets', 'link.txt'));
};
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'console-'));
  directory = join(root, 'dist');
  writeFileSync(join(root, 'secret.txt'), SECRET);
  app = await createTestApp({ consoleDirectory: directory });
});
afterAll(async () => {
  await app.close();
  rmSync(root, { recursive: true });
});

it('without a build the page says how to build it, and the API serves', async () => {
  const response = await app.http.get('/').set(BROWSER);
  expect(response.status).toBe(503);
  expect(response.text).toContain('npm run build --workspace console');
  expect(response.headers).toMatchObject({ 'content-security-policy': POLICY, 'cache-control': 'no-store' });
  expect((await app.http.get('/api/v1/providers')).status).toBe(200);
  expect((await app.http.get('/').set('accept', 'application/json')).status).toBe(200);
});

describe('with a build', () => {
  beforeAll(build);

  it.each(['/', '/keys', '/keys/', '/Keys', '/generations/gen-1', '/models/openai/gpt-4.1%3Afree'])(
    'a browser gets the page: %s',
    async (path) => {
      const response = await app.http.get(path).set(BROWSER);
      expect([response.status, response.text]).toEqual([200, PAGE]);
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY_OF_PAGE,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-cache',
        'x-request-id': expect.any(String),
      });
      const again = await app.http
        .get(path)
        .set({ ...BROWSER, 'if-none-match': response.headers['etag'] ?? '' });
      expect(again.status).toBe(304);
    },
  );

  it.each(['/a/b/c.d', '/docsify', '/apis', '/keys/a/b', '/generations/', '/models/openai'])(
    'a browser gets the page with 404 where the console has none: %s',
    async (path) => {
      const response = await app.http.get(path).set(BROWSER);
      expect([response.status, response.text]).toEqual([404, PAGE]);
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY_OF_PAGE,
        'cache-control': 'no-cache',
      });
    },
  );

  it('answers the icon for /favicon.ico, with its own type', async () => {
    const response = await app.http.get('/favicon.ico').set('accept', 'image/*');
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
  });

  it('hashed files are immutable and not sniffed', async () => {
    const response = await app.http.get('/assets/index-A1b2.js');
    expect([response.status, response.text]).toEqual([200, SCRIPT]);
    expect(response.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      vary: 'Accept, Accept-Encoding',
    });
    const plain = await app.http.get('/assets/index-A1b2.js').set('accept-encoding', 'identity');
    expect([plain.text, plain.headers['content-encoding']]).toEqual([SCRIPT, undefined]);
  });

  it.each([
    ['/assets/logo-A1b2.svg', 'public, max-age=31536000, immutable'],
    ['/favicon.svg', 'no-cache'],
  ])('images with scripts have the policy of pages: %s', async (path, caching) => {
    const response = await app.http.get(path);
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({ 'content-security-policy': POLICY, 'cache-control': caching });
  });

  it.each([
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..\\..\\secret.txt',
    '//secret.txt',
    '/assets/link.txt',
    '/assets/',
    '/assets',
    '/assets/missing.js',
    '/assets/index-A1b2.js%00.html',
  ])('serves nothing but files of the build: %s', async (path) => {
    const answer = await writeToSocket(
      app.origin,
      `GET ${path} HTTP/1.1\r\nhost: a\r\naccept: */*\r\nconnection: close\r\n\r\n`,
    );
    expect([400, 404]).toContain(answer.status);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it.each(['/api/v1/keys', '/api/v1/unknown', '/api', '/console/unknown', '/assets/missing.js'])(
    'a browser gets the error of the API, not a page: %s',
    async (path) => {
      const response = await app.http.get(path).set(BROWSER);
      expect([401, 404]).toContain(response.status);
      expectError(response, response.status);
    },
  );

  it.each([
    ['/health', 'application/json'],
    ['/metrics', 'text/plain'],
    ['/docs', 'text/html'],
    ['/api/v1/openapi.json', 'application/json'],
  ])('no page takes the place of a route: %s', async (path, type) => {
    const response = await app.http.get(path).set(BROWSER);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toContain(type);
    expect(response.text).not.toBe(PAGE);
  });

  it.each(['application/json', '*/*'])(
    'a client of the API gets pointers at the root: %s',
    async (accept) => {
      const response = await app.http.get('/').set('accept', accept);
      expect([response.status, response.body]).toEqual([
        200,
        { data: { docs: '/docs', openapi: '/api/v1/openapi.json', console: true } },
      ]);
      expect(response.headers['vary']).toBe('Accept');
      expectError(await app.http.get('/keys').set('accept', accept), 404);
      expectError(await app.http.post('/').set('accept', accept), 404);
    },
  );

  it('a new build is served without a restart', async () => {
    writeFileSync(join(directory, 'assets', 'index-C3d4.js'), 'new');
    expect((await app.http.get('/assets/index-C3d4.js')).status).toBe(404);
    writeFileSync(join(directory, 'index.html'), `${PAGE}<p>new`);
    expect((await app.http.get('/').set(BROWSER)).text).toBe(`${PAGE}<p>new`);
    expect((await app.http.get('/assets/index-C3d4.js')).text).toBe('new');
  });
});

it('with CONSOLE=off there are pointers and no pages', async () => {
  const off = await createTestApp({ environment: { CONSOLE: 'off' }, consoleDirectory: directory });
  expect((await off.http.get('/').set(BROWSER)).body).toMatchObject({ data: { console: false } });
  for (const path of ['/keys', '/assets/index-A1b2.js'])
    expectError(await off.http.get(path).set(BROWSER), 404);
  await off.close();
});

it('the limit of public requests comes before any look at the disk', async () => {
  const server = express()
    .use(
      serveConsole({
        publicPath: '',
        directory: join(root, 'no-such-build'),
        limits: [(_request, response) => void response.sendStatus(429)],
      }),
    )
    .use((_request, response) => void response.sendStatus(404));
  const statusOf = async (path: string, accept = '*/*') =>
    (await supertest(server).get(path).set('accept', accept)).status;
  expect(await statusOf('/assets/missing.js')).toBe(429);
  expect(await statusOf('/favicon.svg')).toBe(429);
  expect(await statusOf('/anything', 'text/html')).toBe(429);
  expect(await statusOf('/anything')).toBe(404);
  expect(await statusOf('/api/v1/data.json')).toBe(404);
});
