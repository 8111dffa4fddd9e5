// Codex itself, as its users run it: a session with a tool, and a turn that is cancelled (docs/agents.md#codex). Its provider is a stub.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestKey } from '../support/app/app.js';
import { delta, usageOnly } from '../support/chat/chat-events.js';
import { eventually } from '../support/eventually.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../support/messages/messages-app.js';
import type { MessagesApp } from '../support/messages/messages-app.js';
import { countWithoutEnd } from '../support/messages/messages-stub.js';
import { npmProgram } from '../support/programs/npm-program.js';
import { chatsOf, streamOf } from '../support/upstreams/chat-upstream.js';

const { path: codex, reason } = await npmProgram('@openai/codex', '0.171.0', 'codex');
const withCodex = codex === null ? it.skip : it;
const title = codex === null ? `Codex (not run: ${reason})` : 'Codex';
const SECRET = 'the word is marzipan';
const TIMEOUT_MS = 120_000;

let setup: MessagesApp;
let folder: string;
let key: TestKey;
beforeAll(async () => {
  setup = await startMessagesApp();
  key = await setup.app.createKey();
  folder = mkdtempSync(join(tmpdir(), 'signalbox-codex-'));
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'work', 'note.txt'), SECRET);
  writeFileSync(join(folder, 'config.toml'), documentedConfig());
});
afterEach(() => {
  setup.chat.answerWith(null);
  setup.anthropic.answerWith(null);
});
afterAll(async () => {
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of the documentation, with the address and the model of this test. */
function documentedConfig(): string {
  const page = readFileSync(fileURLToPath(new URL('../../docs/agents.md', import.meta.url)), 'utf8');
  const [, lines = ''] = /```toml\n(.*?)```/s.exec(page) ?? [];
  expect(lines).toContain('http://localhost:3000/api/v1');
  return lines
    .replace('http://localhost:3000/api/v1', setup.app.baseUrl)
    .replace(/^model = .*$/m, `model = "${OPEN_MODEL}"`);
}

const ARGUMENTS = ['exec', '--skip-git-repo-check', '--json', '--sandbox', 'danger-full-access'];
const environment = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  CODEX_HOME: folder,
  SIGNALBOX_API_KEY: key.secret,
});
const sent = () => setup.chat.requests.at(-1)!.body['messages'] as { role: string; content: string }[];
describe(title, () => {
  withCodex(
    'thinks, runs a command and answers, each call with its exact cost',
    async () => {
      let turn = 0;
      setup.chat.answerWith((request, response) => {
        const answers = [
          [
            delta({ reasoning_content: 'I must read it.' }),
            delta({
              tool_calls: [
                {
                  index: 0,
                  id: 'call_1',
                  type: 'function',
                  function: { name: 'exec_command', arguments: '' },
                },
              ],
            }),
            delta({ tool_calls: [{ index: 0, function: { arguments: '{"cmd":"cat note.txt"}' } }] }),
            delta({}, 'tool_calls'),
            usageOnly(4_321, 21),
          ],
          [
            delta({ content: 'It says ' }),
            delta({ content: 'marzipan.' }),
            delta({}, 'stop'),
            usageOnly(4_400, 9),
          ],
        ];
        return streamOf(...(answers[turn++] ?? []), '[DONE]')(request, response);
      });
      const running = promisify(execFile)(codex!, [...ARGUMENTS, 'Read note.txt, please.'], {
        cwd: join(folder, 'work'),
        env: environment(),
      });
      running.child.stdin?.end();
      const { stdout } = await running;
      const events = stdout
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map(
          (line) =>
            JSON.parse(line) as { type: string; item?: { type: string; text?: string }; usage?: object },
        );
      expect(events).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            item: expect.objectContaining({ type: 'agent_message', text: 'It says marzipan.' }),
          }),
          expect.objectContaining({
            type: 'turn.completed',
            usage: expect.objectContaining({ input_tokens: 8_721, output_tokens: 30 }),
          }),
        ]),
      );
      const result = sent().find(({ role }) => role === 'tool');
      expect(result?.content).toContain(SECRET);
      const calls = await chatsOf(setup.app, key.record.id);
      // 4,321 and 4,400 at 2, 21 and 9 at 10 USD a million, in picodollars.
      expect(calls.map(({ cost }) => cost)).toEqual([8_852_000_000n, 8_890_000_000n]);
      for (const { chat, attempts } of calls) {
        expect(chat?.wire).toBe('responses');
        expect(attempts[0]?.droppedMembers).toContain('tools.web_search');
      }
      const [first] = calls;
      expect(calls.every(({ sessionId }) => sessionId !== null && sessionId === first?.sessionId)).toBe(true);
    },
    TIMEOUT_MS,
  );

  withCodex(
    'pays for a turn that it cancels as far as the answer came',
    async () => {
      const before = (await chatsOf(setup.app, key.record.id)).length;
      const started = new Promise<void>((resolve) => {
        setup.anthropic.answerWith(countWithoutEnd(1_234, resolve));
      });
      const child = spawn(codex!, [...ARGUMENTS, '--model', CLAUDE, 'Count.'], {
        cwd: join(folder, 'work'),
        env: environment(),
        stdio: ['ignore', 'ignore', 'ignore'],
        detached: true,
      });
      await started;
      const ended = once(child, 'exit');
      // The program of the package starts another one: the whole group of processes ends.
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
      const calls = await eventually(
        () => chatsOf(setup.app, key.record.id),
        ({ length }) => length > before,
      );
      const last = calls.at(-1)!;
      expect(last.chat).toMatchObject({ isCancelled: true, usageSource: 'counted' });
      // The prompt as Anthropic reported it, at 2, and the answer at 10 USD a million, in picodollars.
      expect(last.promptTokens).toBe(1_234);
      expect(last.cost).toBe(1_234n * 2_000_000n + BigInt(last.chat!.completionTokens) * 10_000_000n);
    },
    TIMEOUT_MS,
  );
});
