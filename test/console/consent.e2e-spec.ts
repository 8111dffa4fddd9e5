// The consent to a key for a program (docs/contract.md#sign-in-from-a-command-line), as its reader meets it.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  openConsole,
  signInWith,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { eventually } from '../support/eventually.js';
import { ask, askFor } from '../support/requests/admin.js';
import { listenLocally } from '../support/upstreams/local-server.js';

const VERIFIER = 'a-verifier-of-a-program-on-a-laptop-0123456789';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** A program on the machine of the reader, which waits for its code. */
interface Program {
  readonly origin: string;
  /** Addresses that its listener was called with, without those that browsers ask for by themselves. */
  readonly calls: readonly string[];
  close(): Promise<void>;
}

async function startProgram(): Promise<Program> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    if (request.url !== '/favicon.ico') calls.push(request.url ?? '');
    response.setHeader('content-type', 'text/html').end('<title>Signed in</title>You can close this page.');
  });
  return { ...(await listenLocally(server)), calls };
}

describeInChromium('the consent to a key for a program', () => {
  let setup: ConsoleSetup;
  let program: Program;
  beforeAll(async () => {
    setup = await startConsole({ AUTH_CALLBACK_HOSTS: 'app.example.com' });
    program = await startProgram();
  });
  afterAll(async () => {
    await program.close();
    await setup.close();
  });

  /** As the helper of the client library builds it, at the root of the service. */
  async function addressOf(callbackUrl: string, limit?: number): Promise<string> {
    const client = new OpenRouter({ serverURL: `${setup.app.origin}/api/v1` });
    return client.oAuth.createAuthorizationUrl({
      callbackUrl,
      codeChallenge: CHALLENGE,
      codeChallengeMethod: 'S256',
      ...(limit !== undefined && { limit }),
    });
  }

  /** Leaving for the program is the one request outside the console. */
  const othersThanProgram = ({ complaints }: OpenConsole) =>
    complaints.filter((complaint) => complaint !== `request to ${program.origin}`);

  it('asks a reader who signs in first, and hands the program a code for a key that works', async () => {
    const session = await openConsole(setup.browser, setup.app, { key: null });
    const { page } = session;
    const callback = `${program.origin}/callback?state=a%20b+c&next=%2Fhome`;
    await page.goto(await addressOf(callback, 12.5));
    await page.getByText('You return to the page that you were on.').waitFor();
    await signInWith(page, setup.app.managementKey);
    await page.getByRole('heading', { level: 1, name: 'A program asks for a key' }).waitFor();
    await page.getByText(new URL(program.origin).host, { exact: true }).waitFor();
    expect(await page.getByLabel('Spend limit').inputValue()).toBe('12.5');
    await page.getByText(/are paid by the workspace/).waitFor();
    await expectAccessibleEverywhere(page);
    expect(program.calls).toEqual([]);
    await page.getByLabel('Name of the key').fill('Laptop of Ann');
    await page.getByLabel('Limit resets').selectOption('monthly');
    await page.getByRole('button', { name: 'Allow' }).click();
    const [call = ''] = await eventually(
      async () => program.calls,
      (calls) => calls.length > 0,
    );
    await page.getByText('You can close this page.').waitFor();
    const [, own, code = ''] = /^(.*)&code=(.*)$/.exec(call) ?? [];
    expect(own).toBe('/callback?state=a%20b+c&next=%2Fhome');
    const exchanged = await setup.app.http
      .post('/api/v1/auth/keys')
      .send({ code, code_verifier: VERIFIER, code_challenge_method: 'S256' });
    expect(exchanged.status).toBe(200);
    const { key } = exchanged.body as { key: string };
    const { data } = await askFor<{ data: Record<string, unknown> }>(200, setup.app, 'get', '/key', { key });
    expect(data).toMatchObject({ limit: 12.5, limit_reset: 'monthly', is_management_key: false });
    const days = (Date.parse(String(data['expires_at'])) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89);
    expect(days).toBeLessThan(91);
    expect(othersThanProgram(session)).toEqual([]);
    await session.close();
  });

  it('asks again each time, names what is wrong beside its field, and informs the program of a refusal', async () => {
    const session = await openConsole(setup.browser, setup.app);
    const { page } = session;
    const before = program.calls.length;
    await page.goto(`${await addressOf(`${program.origin}/callback`)}&state=s1`);
    await page.getByLabel('Spend limit').fill('-1');
    session.expectStatus(400);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Must not be negative').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('You can close this page.').waitFor();
    expect(program.calls.slice(before)).toEqual(['/callback?error=access_denied&state=s1']);
    expect(othersThanProgram(session)).toEqual([]);
    await session.close();
  });

  it('refuses in words a callback on another host, and one that the operator does not list (V64)', async () => {
    const session = await openConsole(setup.browser, setup.app);
    const { page } = session;
    await page.goto(await addressOf('http://127.0.0.1.example.com/callback'));
    await page.getByText(/The code would go to 127\.0\.0\.1\.example\.com/).waitFor();
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await page.goto(await addressOf('https://unlisted.example.com/callback'));
    session.expectStatus(400);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText(/hosts that its operator lists in AUTH_CALLBACK_HOSTS/).waitFor();
    expect(session.complaints).toEqual([]);
    await session.close();
  });

  it('refuses in words a missing and a plain challenge', async () => {
    const session = await openConsole(setup.browser, setup.app);
    const { page } = session;
    const callback = encodeURIComponent(`${program.origin}/callback`);
    await page.goto(`/auth?callback_url=${callback}`);
    await page.getByText(/has sent no code_challenge/).waitFor();
    await page.goto(`/auth?callback_url=${callback}&code_challenge=${VERIFIER}&code_challenge_method=plain`);
    await page.getByText(/must send code_challenge_method=S256, not plain/).waitFor();
    expect(session.complaints).toEqual([]);
    await session.close();
  });

  it('states to the reader of an API key that it makes no keys', async () => {
    const key = await setup.app.createKey({ name: 'Laptop' });
    const session = await openConsole(setup.browser, setup.app, { key: key.secret });
    await session.page.goto(await addressOf(`${program.origin}/callback`));
    await session.page.getByText('You are signed in with an API key').waitFor();
    await expectAccessible(session.page);
    expect(session.complaints).toEqual([]);
    await session.close();
    expect((await ask(setup.app, 'get', '/key', { key: key.secret })).status).toBe(200);
  });
});
