// Claude Code itself, as its users run it: a session with a tool and a thought, and a turn that is cancelled
// (docs/agents.md#claude-code). Its provider is a stub.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { delta, usageOnly } from '../support/chat/chat-events.js';
import { eventually } from '../support/eventually.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../support/messages/messages-app.js';
import type { MessagesApp } from '../support/messages/messages-app.js';
import {
  blockDelta,
  blockStart,
  blockStop,
  countWithoutEnd,
  messageDelta,
  messageStart,
  MESSAGE_STOP,
  streamMessages,
  textBlock,
} from '../support/messages/messages-stub.js';
import { npmProgram } from '../support/programs/npm-program.js';
import { chatsOf, streamOf } from '../support/upstreams/chat-upstream.js';

const { path: claude, reason } = await npmProgram('@anthropic-ai/claude-code', '2.1.332', 'claude');
const withClaude = claude === null ? it.skip : it;
const title = claude === null ? `Claude Code (not run: ${reason})` : 'Claude Code';
const SECRET = 'the word is marzipan';
const TIMEOUT_MS = 120_000;

let setup: MessagesApp;
let folder: string;
beforeAll(async () => {
  setup = await startMessagesApp();
  folder = mkdtempSync(join(tmpdir(), 'signalbox-claude-'));
  mkdirSync(join(folder, 'work'));
  writeFileSync(join(folder, 'work', 'note.txt'), SECRET);
});
afterEach(() => {
  setup.chat.answerWith(null);
  setup.anthropic.answerWith(null);
});
afterAll(async () => {
  await setup.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of the documentation, with the address and the key of this test. */
function environmentOf(secret: string): NodeJS.ProcessEnv {
  const page = readFileSync(fileURLToPath(new URL('../../docs/agents.md', import.meta.url)), 'utf8');
  const exported = [...page.matchAll(/^export (ANTHROPIC_\w+)=(\S+)$/gm)].map(([, name, value]) => [
    name,
    value === 'the-key' ? secret : setup.app.origin,
  ]);
  expect(exported.map(([name]) => name)).toEqual(['ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN']);
  return {
    ...(Object.fromEntries(exported) as NodeJS.ProcessEnv),
    PATH: process.env['PATH'],
    HOME: folder,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_DEFAULT_HAIKU_MODEL: OPEN_MODEL,
  };
}

const argumentsFor = (model: string): string[] => [
  '--model',
  model,
  '--output-format',
  'json',
  '--allowedTools',
  'Read',
  '-p',
];
const inputOf = () => JSON.stringify({ file_path: join(folder, 'work', 'note.txt') });

interface Result {
  readonly result: string;
  readonly is_error: boolean;
  readonly session_id: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

async function ask(model: string, secret: string): Promise<Result> {
  const running = promisify(execFile)(claude!, [...argumentsFor(model), 'Read note.txt, please.'], {
    cwd: join(folder, 'work'),
    env: environmentOf(secret),
  });
  running.child.stdin?.end();
  const { stdout } = await running;
  return JSON.parse(stdout) as Result;
}

const isAboutTheNote = ({ text }: { readonly text: string }): boolean => text.includes('Read note.txt');

describe(title, () => {
  withClaude(
    'thinks, reads a file and answers behind Anthropic, each call with its exact cost',
    async () => {
      const key = await setup.app.createKey();
      setup.anthropic.answerWith((request, response) => {
        const hasResult = request.text.includes('"tool_result"');
        const first = [
          messageStart({ input_tokens: 4_321, output_tokens: 1 }),
          blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
          blockDelta(0, { type: 'thinking_delta', thinking: 'I must read it.' }),
          blockDelta(0, { type: 'signature_delta', signature: 'sig-1' }),
          blockStop(0),
          blockStart(1, { type: 'tool_use', id: 'toolu_01', name: 'Read', input: {} }),
          blockDelta(1, { type: 'input_json_delta', partial_json: inputOf() }),
          blockStop(1),
          messageDelta('tool_use', { output_tokens: 21 }),
          MESSAGE_STOP,
        ];
        const last = [
          messageStart({ input_tokens: 4_400, output_tokens: 1 }),
          ...textBlock(0, 'It says ', 'marzipan.'),
          messageDelta('end_turn', { output_tokens: 9 }),
          MESSAGE_STOP,
        ];
        streamMessages(hasResult ? last : first)(request, response);
      });
      const answer = await ask(CLAUDE, key.secret);
      expect(answer).toMatchObject({ result: 'It says marzipan.', is_error: false });
      const requests = setup.anthropic.requests.filter(isAboutTheNote);
      expect(requests.at(-1)?.text).toContain(SECRET);
      // Bytes pass, the thought with its signature among them.
      expect(requests.at(-1)?.text).toContain('"signature":"sig-1"');
      const calls = (await chatsOf(setup.app, key.record.id)).filter(({ chat }) => chat?.wire === 'messages');
      // 4,321 and 4,400 at 2, 21 and 9 at 10 USD a million, in picodollars.
      expect(calls.map(({ cost }) => cost)).toEqual(expect.arrayContaining([8_852_000_000n, 8_890_000_000n]));
      expect(new Set(calls.map(({ sessionId }) => sessionId))).toEqual(new Set([answer.session_id]));
    },
    TIMEOUT_MS,
  );

  withClaude(
    'reads a file and answers behind a server with the wire of OpenAI',
    async () => {
      const key = await setup.app.createKey();
      setup.chat.answerWith((request, response) => {
        const { messages } = request.body as { messages: { role: string }[] };
        const called = {
          index: 0,
          id: 'call_1',
          type: 'function',
          function: { name: 'Read', arguments: inputOf() },
        };
        const first = [
          delta({ reasoning_content: 'I must read it.' }),
          delta({ tool_calls: [called] }),
          delta({}, 'tool_calls'),
          usageOnly(4_321, 21),
        ];
        const last = [delta({ content: 'It says marzipan.' }), delta({}, 'stop'), usageOnly(4_400, 9)];
        const isAnswered = messages.some(({ role }) => role === 'tool');
        return streamOf(...(isAnswered ? last : first), '[DONE]')(request, response);
      });
      const answer = await ask(OPEN_MODEL, key.secret);
      expect(answer).toMatchObject({ result: 'It says marzipan.', is_error: false });
      const calls = await chatsOf(setup.app, key.record.id);
      expect(calls.map(({ cost }) => cost)).toEqual(expect.arrayContaining([8_852_000_000n, 8_890_000_000n]));
    },
    TIMEOUT_MS,
  );

  withClaude(
    'pays for a turn that is cancelled as far as the answer came',
    async () => {
      const key = await setup.app.createKey();
      const started = new Promise<void>((resolve) => {
        setup.anthropic.answerWith(countWithoutEnd(1_234, resolve));
      });
      const child = spawn(claude!, [...argumentsFor(CLAUDE), 'Count.'], {
        cwd: join(folder, 'work'),
        env: environmentOf(key.secret),
        stdio: ['ignore', 'ignore', 'ignore'],
        detached: true,
      });
      await started;
      const ended = once(child, 'exit');
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
      const calls = await eventually(
        () => chatsOf(setup.app, key.record.id),
        (found) => found.some(({ chat }) => chat?.isCancelled === true),
      );
      const cancelled = calls.find(({ chat }) => chat?.isCancelled === true)!;
      expect(cancelled.promptTokens).toBe(1_234);
      expect(cancelled.cost).toBe(
        1_234n * 2_000_000n + BigInt(cancelled.chat!.completionTokens) * 10_000_000n,
      );
    },
    TIMEOUT_MS,
  );
});
