// The commands of docs/tutorial.md in their order, before a stub of OpenAI, as a reader would run them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunningClock } from '../../support/app/running-clock.js';
import { eventually } from '../../support/eventually.js';
import { answerChat, startChat } from '../../support/upstreams/chat-upstream.js';
import type { ChatSetup } from '../../support/upstreams/chat-upstream.js';
import { answerLikeOpenAi } from '../../support/upstreams/stub-upstream.js';

const run = promisify(execFile);
const page = readFileSync(fileURLToPath(new URL('../../../docs/tutorial.md', import.meta.url)), 'utf8');
const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
  language,
  code,
}));
const commands = blocks.filter(({ language }) => language === 'bash').map(({ code }) => code);
const [start = '', receiver = ''] = blocks.filter(({ language }) => language === '').map(({ code }) => code);

let chat: ChatSetup;
let directory: string;
let port: number;
let printer: ChildProcess | undefined;
beforeAll(async () => {
  // The list's first call is the latest one.
  chat = await startChat({}, { clock: new RunningClock() });
  chat.upstream.answerWith((request, response) =>
    (request.path === '/v1/embeddings' ? answerLikeOpenAi : answerChat)(request, response),
  );
  directory = mkdtempSync(join(tmpdir(), 'signalbox-tutorial-'));
  mkdirSync(join(directory, '.data'));
  const { baseUrl, managementKey, apiKey } = chat.app;
  writeFileSync(
    join(directory, '.data', 'quickstart.env'),
    `BASE_URL=${baseUrl}\nMANAGEMENT_KEY=${managementKey}\nAPI_KEY=${apiKey}\n`,
  );
  port = await freePort();
});
afterAll(async () => {
  printer?.kill();
  await chat.close();
  rmSync(directory, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return free;
}

/** The port of the receiver is the page's only fixed one. */
const here = (code: string): string => code.replaceAll('4000', String(port));
const next = async (): Promise<string> => {
  const { stdout } = await run('bash', ['-ec', here(commands.shift() ?? 'exit 1')], { cwd: directory });
  return stdout;
};

it('leads from a key over a chat and a limit to a trace', async () => {
  expect(start).toContain('OPENAI_API_KEY=sk-... DESTINATION_ALLOWED_CIDRS=127.0.0.0/8 npm start');

  expect(JSON.parse(await next())).toMatchObject({ data: { ok: true, status: 200 } });
  expect(JSON.parse(await next())).toMatchObject({ data: { limit: 0.0002 }, key: expect.any(String) });

  const events = (await next()).split('\n').filter((line) => line.startsWith('data: '));
  expect(events.at(-1)).toBe('data: [DONE]');
  expect(JSON.parse(events.at(-2)?.slice('data: '.length) ?? '')).toMatchObject({
    usage: { cost: expect.any(Number) },
  });

  const [first, ...answers] = (await next()).split('\n');
  expect(first).toBe('200');
  expect(answers).toContain('402');
  expect(JSON.parse(answers.at(-1) ?? '')).toMatchObject({
    error: { code: 402, metadata: { limit_source: 'key', resets_at: expect.any(String) } },
  });
  expect(JSON.parse(await next())).toMatchObject({ data: { limit: 0.0002, limit_reset: 'daily' } });
  expect(JSON.parse(await next())).toMatchObject({ data: { limit: 1 } });

  printer = spawn('bash', ['-ec', `exec ${here(receiver)}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  printer.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await next();
  await eventually(
    () => Promise.resolve(printed),
    (text) => text.includes('tutorial-1'),
  );
  expect(JSON.parse(await next())).toMatchObject({ data: [{ request_id: 'tutorial-1' }] });
  expect(commands).toEqual([]);
});
