// The code blocks of README.md, run as a reader would against a started service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';

const run = promisify(execFile);
const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const readme = readFileSync(inRepository('README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
  language,
  code,
}));
const codeOf = (language: string, part: string): string => {
  const found = blocks.filter((block) => block.language === language && block.code.includes(part));
  expect([part, found.length]).toEqual([part, 1]);
  return found[0]?.code ?? '';
};

let app: TestApp;
let directory: string;
beforeAll(async () => {
  app = await createTestApp();
  directory = mkdtempSync(join(tmpdir(), 'signalbox-readme-'));
  symlinkSync(inRepository('node_modules'), join(directory, 'node_modules'));
  mkdirSync(join(directory, '.data'));
  writeFileSync(
    join(directory, '.data', 'quickstart.env'),
    `BASE_URL=${app.baseUrl}\nMANAGEMENT_KEY=${app.managementKey}\nAPI_KEY=${app.apiKey}\n`,
  );
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

const shell = async (part: string): Promise<Record<string, unknown>> => {
  const { stdout } = await run('bash', ['-ec', codeOf('bash', part)], { cwd: directory });
  return JSON.parse(stdout) as Record<string, unknown>;
};
const program = async (part: string): Promise<string> => {
  writeFileSync(join(directory, 'example.mjs'), codeOf('js', part));
  const options = ['--env-file=.data/quickstart.env', 'example.mjs'];
  return (await run(process.execPath, options, { cwd: directory })).stdout;
};

describe('README.md', () => {
  it('has no other blocks to run than those below', () => {
    expect(blocks.filter(({ language }) => language !== 'mermaid').map(({ language }) => language)).toEqual([
      '',
      'bash',
      'bash',
      '',
      'bash',
      'js',
      'js',
      '',
    ]);
  });

  it('embeds with curl', async () => {
    const { data } = await shell('/embeddings');
    expect(data).toHaveLength(2);
    expect(data).toMatchObject([{ object: 'embedding', index: 0 }, { index: 1 }]);
  });

  it('streams a chat', async () => {
    const code = codeOf('bash', '/chat/completions');
    const { stdout } = await run('bash', ['-ec', code], { cwd: directory });
    const events = stdout.split('\n').filter((line) => line.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    const texts = events.slice(0, -1).map((event) => {
      const chunk = JSON.parse(event.slice('data: '.length)) as {
        choices: { delta: { content?: string } }[];
      };
      return chunk.choices[0]?.delta.content ?? '';
    });
    expect(texts.join('')).toContain('Hello there');
  });

  it('makes a key with a limit', async () => {
    expect(await shell('/keys')).toMatchObject({
      data: { limit: 5, limit_reset: 'monthly' },
      key: expect.stringMatching(/^sk-/),
    });
  });

  it('embeds with the openai client', async () => {
    expect(await program("from 'openai'")).toMatch(/^2 \{/);
  });

  it('creates a destination with the SDK', async () => {
    expect(await program("from '@openrouter/sdk'")).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  it('starts with the commands of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const commands = blocks.filter(({ language }) => language === '').map(({ code }) => code.trim());
    expect(commands).toEqual(['npm start', 'OPENAI_API_KEY=sk-... npm start', 'npm test']);
    expect(scripts).toMatchObject({ start: expect.any(String), test: expect.any(String) });
  });
});
