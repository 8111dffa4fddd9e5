// OpenCode and Cline themselves, which speak Chat's wire, as their users run them: a session that reads a file by a tool
// (docs/agents.md). Their provider is a stub.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestKey } from '../support/app/app.js';
import { delta, usageOnly } from '../support/chat/chat-events.js';
import { OPEN_MODEL, startMessagesApp } from '../support/messages/messages-app.js';
import type { MessagesApp } from '../support/messages/messages-app.js';
import { npmProgram } from '../support/programs/npm-program.js';
import { chatsOf, streamOf } from '../support/upstreams/chat-upstream.js';

const opencode = await npmProgram('opencode-ai', '1.18.33', 'opencode');
const cline = await npmProgram('cline', '3.0.65', 'cline');
const SECRET = 'the word is marzipan';
const TIMEOUT_MS = 120_000;

let setup: MessagesApp;
let folder: string;
beforeAll(async () => {
  setup = await startMessagesApp();
  folder = mkdtempSync(join(tmpdir(), 'signalbox-agents-'));
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'work', 'note.txt'), SECRET);
});
afterAll(async () => {
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The block of the documentation with this text, with the address and the model of this test. */
function documented(text: string): string {
  const page = readFileSync(fileURLToPath(new URL('../../docs/agents.md', import.meta.url)), 'utf8');
  const blocks = [...page.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, lines = '']) => lines);
  const lines = blocks.find((block) => block.includes(text)) ?? '';
  expect(lines).toContain('http://localhost:3000/api/v1');
  return lines
    .replaceAll('http://localhost:3000/api/v1', setup.app.baseUrl)
    .replaceAll('openai/gpt-5-mini', OPEN_MODEL);
}

async function run(program: string, parameters: readonly string[], secret: string): Promise<string> {
  const running = promisify(execFile)(program, [...parameters], {
    cwd: join(folder, 'work'),
    env: { PATH: process.env['PATH'], HOME: folder, SIGNALBOX_API_KEY: secret },
  });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** The model calls the tool, and answers when it has the result. */
function answerWithTool(name: string, parameters: object): void {
  setup.chat.answerWith((request, response) => {
    const { messages, tools = [] } = request.body as { messages: { role: string }[]; tools?: object[] };
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name, arguments: JSON.stringify(parameters) },
    };
    const isAnswered = messages.some(({ role }) => role === 'tool');
    const answer =
      isAnswered || tools.length === 0
        ? [delta({ content: 'It says marzipan.' }), delta({}, 'stop'), usageOnly(4_400, 9)]
        : [delta({ tool_calls: [call] }), delta({}, 'tool_calls'), usageOnly(4_321, 21)];
    return streamOf(...answer, '[DONE]')(request, response);
  });
}

async function expectSession(key: TestKey): Promise<void> {
  const sent = setup.chat.requests.findLast(({ text }) => text.includes('"role":"tool"'));
  expect(sent?.text).toContain(SECRET);
  const calls = await chatsOf(setup.app, key.record.id);
  // 4,321 and 4,400 at 2, 21 and 9 at 10 USD a million, in picodollars.
  expect(calls.map(({ cost }) => cost)).toEqual(expect.arrayContaining([8_852_000_000n, 8_890_000_000n]));
}

const withProgram = ({ path }: { readonly path: string | null }) => (path === null ? it.skip : it);
const titleOf = (
  name: string,
  { path, reason }: { readonly path: string | null; readonly reason: string },
) => (path === null ? `${name} (not run: ${reason})` : name);

describe(titleOf('OpenCode', opencode), () => {
  withProgram(opencode)(
    'reads a file by its tool and answers, each call with its exact cost',
    async () => {
      const key = await setup.app.createKey();
      writeFileSync(join(folder, 'work', 'opencode.json'), documented('@ai-sdk/openai-compatible'));
      answerWithTool('read', { filePath: join(folder, 'work', 'note.txt') });
      const parameters = ['run', '--format', 'json', '--auto', '--model', `signalbox/${OPEN_MODEL}`];
      const output = await run(opencode.path!, [...parameters, 'Read note.txt, please.'], key.secret);
      expect(output).toContain('It says marzipan.');
      await expectSession(key);
    },
    TIMEOUT_MS,
  );
});

describe(titleOf('Cline', cline), () => {
  withProgram(cline)(
    'reads a file by its tool and answers, each call with its exact cost',
    async () => {
      const key = await setup.app.createKey();
      answerWithTool('read_files', { files: [{ path: join(folder, 'work', 'note.txt') }] });
      const [, line = ''] = /^cline (auth .*)$/m.exec(documented('cline auth')) ?? [];
      // State of its own: no program stays behind.
      const own = ['--data-dir', join(folder, 'cline')];
      const setting = line.split(' ').map((word) => (word === 'the-key' ? key.secret : word));
      await run(cline.path!, [...setting, ...own], key.secret);
      const parameters = [...own, '--json', '-P', 'openai', '-m', OPEN_MODEL, 'Read note.txt, please.'];
      const output = await run(cline.path!, parameters, key.secret);
      expect(output).toContain('It says marzipan.');
      await expectSession(key);
    },
    TIMEOUT_MS,
  );
});
