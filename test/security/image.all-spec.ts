// The image as the Dockerfile builds it from the files that its COPY lines name, started as the container would be. It
// takes as long as a build of everything.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmptyDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { readStages } from '../support/image/dockerfile.js';
import { buildImage } from '../support/image/image-build.js';
import type { Image } from '../support/image/image-build.js';

// Milliseconds, on a machine that has much else to do.
const BUILD_TIMEOUT = 900_000;
const START_TIMEOUT = 300_000;
// OpenShift chooses any user of the group 0. It owns no file of the image, and so can change none.
const ANY_USER = { uid: 1_000_660_000, gid: 0 };
const isRoot = process.getuid?.() === 0;
const canDropRights = isRoot && spawnSync(process.execPath, ['--version'], ANY_USER).status === 0;

/** The image's health check asks at PORT, so that 0 will not do. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/**
 * The path of the Node that the base image brings, installed into `folder`: what a newer Node alone has must start too.
 * Without a registry it is the Node of the tests.
 */
function findNode(folder: string): string {
  const [from] = readStages().at(-1) ?? [];
  const [, major] = /^node:(\d+)\b/.exec(from?.rest ?? '') ?? [];
  if (major === undefined) throw new Error(`the base image is not one of Node: ${from?.rest ?? 'none'}`);
  const name = `node-${process.platform}-${process.arch}`;
  const install = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${major}`];
  const { status, stderr } = spawnSync('npm', install, { encoding: 'utf8' });
  if (status === 0) return join(folder, 'node_modules', name, 'bin', 'node');
  process.stderr.write(
    `the image runs on Node ${process.version}, as ${name}@${major} cannot be installed: ${stderr}\n`,
  );
  return process.execPath;
}

describe('the image', () => {
  let folder: string;
  let node: string;
  let image: Image;
  let database: TestDatabase;
  let baseUrl: string;
  let environment: Readonly<Record<string, string>>;
  let service: ChildProcess;

  /** A process of the container. */
  function start(command: readonly string[], stdout: 'inherit' | 'pipe'): ChildProcess {
    const [program = '', ...rest] = command;
    const options: SpawnOptions = {
      cwd: image.workingDirectory,
      env: environment,
      stdio: ['ignore', stdout, 'inherit'],
    };
    expect(program).toBe('node');
    return spawn(node, rest, canDropRights ? { ...options, ...ANY_USER } : options);
  }

  async function run(command: readonly string[]): Promise<string> {
    const child = start(command, 'pipe');
    const [printed, [code]] = await Promise.all([
      child.stdout ? text(child.stdout) : '',
      once(child, 'close') as Promise<[number | null]>,
    ]);
    expect([command, code]).toEqual([command, 0]);
    return printed;
  }

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'image-')));
    chmodSync(folder, 0o755);
    const built = join(folder, 'image');
    mkdirSync(built);
    node = findNode(join(folder, 'runtime'));
    [image, database] = await Promise.all([buildImage(built), createEmptyDatabase()]);
    // A volume as the image prepares it.
    const dataDirectory = join(folder, 'data');
    mkdirSync(dataDirectory);
    chmodSync(dataDirectory, 0o775);
    const port = String(await findFreePort());
    baseUrl = `http://127.0.0.1:${port}`;
    environment = {
      PATH: process.env['PATH'] ?? '',
      ...image.variables,
      PORT: port,
      DATABASE_URL: database.url,
      DATA_DIR: dataDirectory,
      LOG_LEVEL: 'fatal',
    };
    service = start(image.command, 'inherit');
    await eventually(
      async () => {
        if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`);
        return fetch(`${baseUrl}/ready`).then(({ status }) => status, String);
      },
      (status) => status === 200,
      START_TIMEOUT,
    );
  }, BUILD_TIMEOUT + START_TIMEOUT);

  afterAll(async () => {
    service?.kill('SIGKILL');
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is healthy by its own check', async () => {
    expect((await fetch(`${baseUrl}/health`)).status).toBe(200);
    await run(image.healthCheck);
  });

  it('serves the console with its scripts', async () => {
    const page = await fetch(`${baseUrl}/`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    const [, script = ''] = /<script [^>]*src="([^"]+)"/.exec(await page.text()) ?? [];
    const { status, headers } = await fetch(new URL(script, baseUrl));
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/javascript/)]);
  });

  it('makes a key by its command, and answers a call with it', async () => {
    const [, key = ''] = /^key: +(\S+)/.exec(await run(['node', 'scripts/command.mjs', 'keys-create'])) ?? [];
    const answer = await fetch(`${baseUrl}/api/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local/hashing', input: 'one', dimensions: 8 }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ data: [expect.objectContaining({ index: 0 })] }),
    ]);
  });

  it('ends when it is stopped', async () => {
    const ended = once(service, 'close');
    service.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
