// The console at localhost with an identity provider at 127.0.0.1, which is another site for browsers.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { launchChromium, openConsole } from '../app/chromium.js';
import type { OpenConsole, OpenOptions } from '../app/chromium.js';
import { RunningClock } from '../app/running-clock.js';
import { CLIENT, startIdentityProvider } from './identity-provider.js';
import type { IdentityProvider, ProviderPerson } from './identity-provider.js';

export const PROVIDER_NAME = 'Example ID';

export interface SignInConsole {
  readonly app: TestApp;
  readonly provider: IdentityProvider;
  readonly browser: Browser;
  /** A browser of its own, in which no person is signed in. A key signs in if it is named. */
  open(options?: OpenOptions): Promise<OpenConsole>;
  /** A browser in which the person has signed in. */
  openAs(person: ProviderPerson, options?: OpenOptions): Promise<OpenConsole>;
  close(): Promise<void>;
}

/** Its address is known before the service is configured, which needs it. */
async function startForwarder(): Promise<{ server: Server; port: number; forwardTo(port: number): void }> {
  let target = 0;
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1');
    for (const end of [socket, upstream]) {
      end.on('error', () => undefined);
      end.on('close', () => {
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    server,
    port: (server.address() as AddressInfo).port,
    forwardTo: (port) => {
      target = port;
    },
  };
}

export async function startSignInConsole(
  environment: Readonly<Record<string, string>> = {},
): Promise<SignInConsole> {
  const forwarder = await startForwarder();
  const origin = `http://localhost:${forwarder.port}`;
  const provider = await startIdentityProvider({
    redirectUrls: [`${origin}/console/sign-in/oidc/callback`],
  });
  const app = await createTestApp({
    clock: new RunningClock(),
    environment: {
      PUBLIC_URL: origin,
      OIDC_NAME: PROVIDER_NAME,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      ...environment,
    },
  });
  forwarder.forwardTo(Number(new URL(app.origin).port));
  const browser = await launchChromium();
  const open = async (options: OpenOptions = {}): Promise<OpenConsole> => {
    const opened = await openConsole(
      browser,
      { origin, managementKey: app.managementKey },
      { key: null, ...options },
    );
    const isOfProvider = (complaint: string) => complaint === `request to ${provider.issuer}`;
    return Object.defineProperty({ ...opened }, 'complaints', {
      get: () => opened.complaints.filter((complaint) => !isOfProvider(complaint)),
    });
  };
  return {
    app,
    provider,
    browser,
    open,
    openAs: async (person, options) => {
      const opened = await open(options);
      await opened.page.goto('/sign-in');
      provider.person = person;
      await clickProvider(opened.page);
      return opened;
    },
    close: async () => {
      await browser.close();
      await app.close();
      await provider.close();
      await new Promise<void>((resolve) => forwarder.server.close(() => resolve()));
    },
  };
}

/** Resolves when the provider has sent the browser back. */
export async function clickProvider(page: Page): Promise<void> {
  await page.getByRole('link', { name: `Sign in with ${PROVIDER_NAME}` }).click();
  await page.waitForURL(({ hostname, pathname }) => hostname === 'localhost' && pathname !== '/sign-in');
}
