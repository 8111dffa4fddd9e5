// The service with the console, a stub of OpenAI behind it, and real time.
import type { Browser } from 'playwright-core';
import { createTestApp } from './app.js';
import type { TestApp } from './app.js';
import { launchChromium } from './chromium.js';
import { RunningClock } from './running-clock.js';
import { startStubUpstream } from '../upstreams/stub-upstream.js';
import type { StubUpstream } from '../upstreams/stub-upstream.js';

export interface ConsoleSetup {
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function startConsole(
  environment: Readonly<Record<string, string>> = {},
): Promise<ConsoleSetup> {
  const upstream = await startStubUpstream();
  const app = await createTestApp({
    clock: new RunningClock(),
    environment: { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: `${upstream.origin}/v1`, ...environment },
  });
  const browser = await launchChromium();
  return {
    app,
    upstream,
    browser,
    close: async () => {
      await browser.close();
      await app.close();
      await upstream.close();
    },
  };
}
