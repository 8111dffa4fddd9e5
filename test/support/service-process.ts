// The built service in a process of its own, for tests that end it the hard way.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { TEST_ENCRYPTION_KEY } from './app.js';

export interface ServiceProcess {
  readonly baseUrl: string;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

const PROGRAM = `
  const { start } = await import(${JSON.stringify(new URL('../../dist/main.js', import.meta.url).href)});
  const { baseUrl } = await start();
  process.stdout.write(baseUrl + '\\n');
`;

export async function startServiceProcess(
  environment: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    env: {
      PATH: process.env['PATH'],
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
      PORT: '0',
      LOG_LEVEL: 'fatal',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [Buffer | number];
  if (!Buffer.isBuffer(line)) throw new Error(`the service ended with ${line}`);
  return {
    baseUrl: line.toString().trim(),
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
