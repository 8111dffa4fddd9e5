// A log that cannot be written, on a full disk or without a reader, delays neither calls nor the shutdown.
import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/app/service-process.js';

// Bytes.
const ROOM = 8 * 1024;
// More than there is room for.
const LINES = 300;

const program = (rest: string): string => `
  const { ServiceLogger } = await import(${JSON.stringify(new URL('../../../dist/config/service-logger.js', import.meta.url).href)});
  const logger = new ServiceLogger({ logLevel: 'info', logFormat: 'json' });
  let line = 0;
  const log = () => logger.log({ line: line++ }, 'text', 'Test');
  while (line < ${LINES}) log();
  ${rest}
`;

const run = (rest: string, standardOutput: 'pipe' | number): ChildProcess =>
  spawn(process.execPath, ['--input-type=module', '--eval', program(rest)], {
    stdio: ['ignore', standardOutput, 'inherit'],
  });

const numbersIn = (text: string): number[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { readonly line: number }).line);

describe('a service whose log cannot be written', () => {
  it.each(['1', '2'])('serves with %s workers, and ends on a signal', async (workers) => {
    const app = await createTestApp();
    const full = openSync('/dev/full', 'w');
    const service = await startServiceProcess(
      { DATABASE_URL: app.databaseUrl, LOG_LEVEL: 'debug', DELIVERY_PROCESS: 'own', WORKERS: workers },
      full,
    );
    try {
      // More than the log buffers before it writes.
      for (let time = 0; time < 50; time++) {
        const { status } = await fetch(`${service.baseUrl}/key`, {
          headers: { authorization: `Bearer ${app.apiKey}` },
        });
        expect(status).toBe(200);
      }
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      closeSync(full);
      await app.close();
    }
  });

  it('ends although its first lines are its last', async () => {
    const full = openSync('/dev/full', 'w');
    const child = run('process.exit(3);', full);
    closeSync(full);
    try {
      expect(await once(child, 'exit')).toEqual([3, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('ends although no process reads its lines', async () => {
    // Using process.stdout makes it one that returns EAGAIN when it is full.
    const child = run('process.stdout; while (line < 20_000) log(); process.exit(3);', 'pipe');
    try {
      expect(await once(child, 'exit')).toEqual([3, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('loses no line once there is room again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
    const file = join(directory, 'log');
    const output = openSync(file, 'a');
    const ends = `process.on('SIGTERM', () => { log(); process.exit(3); }); setInterval(() => undefined, 1_000);`;
    const child = spawn(
      'sh',
      // The limit counts blocks of 512 bytes.
      [
        '-c',
        `ulimit -f ${ROOM / 512} && exec "$0" "$@"`,
        process.execPath,
        '--input-type=module',
        '--eval',
        program(ends),
      ],
      { stdio: ['ignore', output, 'inherit'] },
    );
    const ended = once(child, 'exit');
    try {
      const read = (): Promise<string> => Promise.resolve(readFileSync(file, 'utf8'));
      const isComplete = (text: string): boolean =>
        text.includes(`"line":${LINES - 1}`) && text.endsWith('\n');
      let written = '';
      while (!isComplete(written)) {
        // No write succeeds while it is full: no line is lost between this check and the next step.
        written += await eventually(read, (text) => text.length === ROOM || isComplete(text));
        truncateSync(file);
      }
      expect(numbersIn(written)).toEqual(Array.from({ length: LINES }, (_value, line) => line));
      child.kill('SIGTERM');
      expect(await ended).toEqual([3, null]);
    } finally {
      child.kill('SIGKILL');
      closeSync(output);
      rmSync(directory, { recursive: true });
    }
  });
});
