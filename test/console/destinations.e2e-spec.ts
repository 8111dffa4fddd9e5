// Destinations in the console: tested before they are saved, retried, replayed, edited, deleted.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';
import { DELIVERY_ENVIRONMENT } from '../support/deliveries/deliveries.js';
import { eventually } from '../support/eventually.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../support/deliveries/trace-collector.js';

describeInChromium('destinations in the console', () => {
  let setup: ConsoleSetup;
  let receiver: RunningReceiver;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    receiver = await startReceiver(traceCollector);
    setup = await startConsole(DELIVERY_ENVIRONMENT);
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    await receiver.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const call = async (input: string): Promise<void> => {
    expect((await embed(setup.app, { model: LOCAL, input })).status).toBe(200);
  };
  /** The ids that the receiver has taken, repeated ones as often as they came. */
  const received = (): string[] => receiver.requests.flatMap(generationsIn);
  const figure = (label: string) =>
    page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });

  it('tests settings before they are saved, and shows the words of the platform', async () => {
    await visit(page, '/destinations', 'Destinations');
    await page.getByText('No destination yet').waitFor();
    await page.getByRole('link', { name: 'Add destination' }).first().click();
    await page.getByRole('link', { name: 'Webhook' }).click();
    await page.getByRole('heading', { level: 1, name: 'Add Webhook' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Our traces');
    await page.getByLabel('URL').fill(`${receiver.origin}/traces`);
    receiver.always({ status: 401, body: 'this signature is not ours' });
    await press('Test');
    await page.getByText(/The test failed.*this signature is not ours/).waitFor();
    await expectAccessible(page);
    receiver.always(null);
    await press('Test');
    await page.getByText(/Webhook accepted the test/).waitFor();
    await press('Create destination');
    await page.getByRole('heading', { level: 1, name: 'Our traces' }).waitFor();
  });

  it('asks before a page with changed settings is closed, and not before another', async () => {
    // Pages of their own, where only the test answers questions.
    const openNew = async (): Promise<Page> => {
      const ownPage = await session.context.newPage();
      await visit(ownPage, '/destinations/new?kind=webhook', 'Add Webhook');
      await ownPage.getByLabel('Name', { exact: true }).click();
      return ownPage;
    };
    const untouched = await openNew();
    await Promise.all([untouched.waitForEvent('close'), untouched.close({ runBeforeUnload: true })]);
    const ownPage = await openNew();
    await ownPage.keyboard.type('Our traces');
    const [question] = await Promise.all([
      ownPage.waitForEvent('dialog'),
      ownPage.close({ runBeforeUnload: true }),
    ]);
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await ownPage.getByLabel('Name', { exact: true }).inputValue()).toBe('Our traces');
    await ownPage.close();
  });

  it('asks before another page takes what was typed, and keeps it', async () => {
    const ownPage = await session.context.newPage();
    await visit(ownPage, '/destinations/new?kind=webhook', 'Add Webhook');
    await ownPage.getByLabel('Name', { exact: true }).fill('Half a destination');
    await ownPage.getByRole('link', { name: 'Keys', exact: true }).click();
    const question = ownPage.getByRole('alertdialog');
    await question.getByText('Changes that are not saved are lost.').waitFor();
    await expectAccessible(ownPage);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await ownPage.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a destination');
    await ownPage.getByRole('link', { name: 'Keys', exact: true }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await ownPage.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await ownPage.close();
  });

  it('shows deliveries, retries after a failure, and replays', async () => {
    await call('first');
    await figure('Delivered').getByText('1', { exact: true }).waitFor();
    receiver.always({ status: 503, body: 'closed for stocktaking' });
    await call('second');
    await page.getByText('Retrying').waitFor();
    await page.getByText('closed for stocktaking').waitFor();
    await page.getByText('The platform does not answer.', { exact: false }).waitFor();
    await expectAccessible(page);
    receiver.always(null);
    // A test that succeeds ends the wait for the next attempt.
    await press('Try now');
    await figure('Delivered').getByText('2', { exact: true }).waitFor();
    await page.getByText('Delivering').waitFor();
    const before = new Set(received());
    await press('Replay');
    await page.getByLabel('Send again').selectOption('Everything of the last 15 minutes');
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The replay has begun.').waitFor();
    await eventually(
      () => Promise.resolve(received()),
      (ids) => [...before].every((id) => ids.filter((other) => other === id).length >= 2),
    );
  });

  it('counts what a filter would have matched while it is typed, and shows its problems at the rule', async () => {
    const ownPage = await session.context.newPage();
    const rule = () => ownPage.getByLabel('Value of rule 1 of group 1');
    await visit(ownPage, '/destinations/new?kind=webhook', 'Add Webhook');
    await ownPage.getByRole('button', { name: 'Add a filter' }).click();
    // A rule without a value has nothing to match yet.
    await rule().waitFor();
    expect(await ownPage.getByText(/Would have matched/).count()).toBe(0);
    await rule().fill(LOCAL);
    await ownPage.getByText('Would have matched 2 of the last 2 calls.').waitFor();
    await rule().fill('no/model');
    await ownPage.getByText('Would have matched 0 of the last 2 calls.').waitFor();
    session.expectStatus(400);
    await ownPage.getByLabel('Operator of rule 1 of group 1').selectOption('matches regex');
    await rule().fill('(local');
    await ownPage.getByText('Is not a valid RE2 regular expression').waitFor();
    expect(await rule().getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(ownPage);
    await rule().fill('^local/');
    await ownPage.getByText('Would have matched 2 of the last 2 calls.').waitFor();
    expect(await rule().getAttribute('aria-invalid')).toBe('false');
    await ownPage.getByLabel('Field of rule 1 of group 1').selectOption('Input');
    await ownPage.getByText(/could not be checked: their input and output are no longer stored/).waitFor();
    await ownPage.close();
  });

  it('edits without sending the stored secrets again, and filters', async () => {
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('heading', { level: 1, name: 'Edit Our traces' }).waitFor();
    await press('Add a filter');
    await page.getByLabel('Operator of rule 1 of group 1').selectOption('starts with');
    await page.getByLabel('Value of rule 1 of group 1').fill('openai/');
    await press('Add a rule');
    await page.getByLabel('Field of rule 2 of group 1').selectOption('Total tokens');
    await page.getByLabel('Operator of rule 2 of group 1').selectOption('is at least');
    await page.getByLabel('Value of rule 2 of group 1').fill('10');
    await page.getByRole('switch', { name: 'Privacy mode' }).click();
    await page.getByLabel('Sampling').fill('0');
    await expectAccessible(page);
    session.expectStatus(400);
    await press('Save');
    await page.getByText(/0\.0001/).waitFor();
    await page.getByLabel('Sampling').fill('0.25');
    await press('Save');
    await page.getByText('0.25%').waitFor();
    await page.getByText('Left out: privacy mode').waitFor();
    const [stored] = await setup.app.sql<{ rules: unknown; rate: string }>(
      'SELECT filter_rules AS rules, sampling_rate::text AS rate FROM destinations',
    );
    expect(Number(stored?.rate)).toBe(0.0025);
    expect(stored?.rules).toEqual({
      enabled: true,
      groups: [
        {
          logic: 'and',
          rules: [
            { field: 'model', operator: 'starts_with', value: 'openai/' },
            { field: 'total_tokens', operator: 'gte', value: '10' },
          ],
        },
      ],
    });
  });

  it('asks for nothing of a destination that is being deleted', async () => {
    const body = { type: 'webhook', name: 'Short-lived', config: { url: `${receiver.origin}/traces` } };
    const { data } = await askFor<{ data: { id: string } }>(
      201,
      setup.app,
      'post',
      '/observability/destinations',
      { body },
    );
    const { page: ownPage, complaints, close } = await openConsole(setup.browser, setup.app);
    // Polls, which run when the test says so.
    await ownPage.addInitScript(() => {
      const polls = new Map<number, () => void>();
      let count = 0;
      const poll = (): void => [...polls.values()].forEach((run) => run());
      Object.assign(globalThis, {
        poll,
        setInterval: (run: () => void) => polls.set((count += 1), run) && count,
        clearInterval: (id: number) => polls.delete(id),
      });
    });
    await visit(ownPage, `/destinations/${data.id}`, 'Short-lived');
    const asked: string[] = [];
    ownPage.on('request', (request) => {
      if (request.method() === 'GET') asked.push(new URL(request.url()).pathname);
    });
    const ofIt = () => asked.filter((path) => path.includes(data.id));
    await Promise.all([ownPage.waitForResponse('**/deliveries'), ownPage.evaluate('poll()')]);
    expect(ofIt()).not.toEqual([]);
    await ownPage.route(`**/destinations/${data.id}`, async (route) => {
      asked.length = 0;
      await ownPage.evaluate('poll()');
      await route.continue();
    });
    await ownPage.getByRole('button', { name: 'Further actions for Short-lived' }).click();
    await ownPage.getByRole('menuitem', { name: 'Delete' }).click();
    await ownPage.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await ownPage.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor();
    await waitUntilLoaded(ownPage);
    expect(ofIt()).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows the signing secret when it is asked for, and deletes by name', async () => {
    expect(await page.content()).not.toMatch(/whsec_[A-Za-z0-9+/]/);
    await press('Show');
    await page.getByText(/whsec_[A-Za-z0-9+/]+/).waitFor();
    await page.getByRole('button', { name: 'Further actions for Our traces' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('Our traces').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No destination yet').waitFor();
    expect(session.complaints).toEqual([]);
  });
});
