// The account that changes the catalogue of an `npm start` with a database of its own.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chatModel } from '../../support/catalogue/operator-apps.js';

const program = fileURLToPath(new URL('../../../scripts/start.mjs', import.meta.url));

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-operator-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** The status of a change by the quickstart's management key. */
async function changeAtAStart(environment: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: '0',
      DATA_DIR: join(directory, 'data'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let stdout = '';
  try {
    for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      stdout += text;
      const [, baseUrl] = /^Base URL: +(\S+)$/m.exec(stdout) ?? [];
      const [, key] = /^Management key: (\S+)$/m.exec(stdout) ?? [];
      if (baseUrl === undefined || key === undefined) continue;
      const answer = await fetch(`${baseUrl}/catalogue/models/acme/new`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'chat_models', model: chatModel(1, 1) }),
      });
      await answer.text();
      return answer.status;
    }
    throw new Error(`it ended without keys:\n${stdout}`);
  } finally {
    child.kill('SIGINT');
    await closed;
  }
}

it('changes the catalogue by the first keys of a start, unless OPERATOR_ACCOUNTS names another account', async () => {
  expect(await changeAtAStart({})).toBe(200);
  expect(await changeAtAStart({ OPERATOR_ACCOUNTS: randomUUID() })).toBe(403);
});
