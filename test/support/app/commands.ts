// The built commands (`npm run keys:list` and the like) in one process a file: each starts as slowly as the service.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { TEST_ENCRYPTION_KEY } from './app.js';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command {
  /** Resolves with the output and the exit code of the command with these options. One run at a time. */
  run(...options: string[]): Promise<CommandResult>;
  close(): Promise<void>;
}

// Separates the outputs of two runs: no command prints it.
const END = '\0';

// It treats a failure as scripts/command.mjs does.
const program = (path: string): string => `
  import { createInterface } from 'node:readline';
  const { run } = await import(${JSON.stringify(new URL(`../../../dist/cli/${path}`, import.meta.url).href)});
  for await (const line of createInterface({ input: process.stdin })) {
    let code = 0;
    await run(JSON.parse(line)).catch((error) => {
      process.stderr.write(error.message + '\\n');
      code = 1;
    });
    process.stderr.write('\\0');
    process.stdout.write(code + '\\0');
  }
`;

/** Starts `dist/cli/<path>` on a database. */
export function startCommand(path: string, databaseUrl: string): Command {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(path)], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY },
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const nextOf = [child.stdout, child.stderr].map(pieces);
  return {
    run: async (...options) => {
      child.stdin.write(`${JSON.stringify(options)}\n`);
      const ended = closed.then(([code]) => Promise.reject(new Error(`the command ended with ${code}`)));
      const [printed = '', stderr = ''] = await Promise.race([
        Promise.all(nextOf.map((next) => next())),
        ended,
      ]);
      return { code: Number(printed.at(-1)), stdout: printed.slice(0, -1), stderr };
    },
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

/** Reads an output up to the next END with every call. */
function pieces(output: Readable): () => Promise<string> {
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return async () => {
    while (!text.includes(END)) await once(output, 'data');
    const end = text.indexOf(END);
    const piece = text.slice(0, end);
    text = text.slice(end + END.length);
    return piece;
  };
}
