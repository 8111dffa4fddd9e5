// People in the console: signed in by an identity provider on another site, with what their roles allow.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { eventually } from '../support/eventually.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';
import { clickProvider, PROVIDER_NAME, startSignInConsole } from '../support/sign-in/sign-in-console.js';
import type { SignInConsole } from '../support/sign-in/sign-in-console.js';

const ANN = {
  sub: 'ann',
  email: 'ann@example.com',
  email_verified: true,
  given_name: 'Ann',
  family_name: 'Lee',
  groups: ['admins'],
};
const BOB = { sub: 'bob', email: 'bob@example.com', email_verified: true, groups: ['viewers'] };
const EVE = { sub: 'eve', email: 'eve@example.com', email_verified: true, groups: ['guests'] };
const MINUTE = 60_000;

/** Buttons and links that change something. */
const CHANGES = /^(?:Add|Create|Edit|Delete|Disable|Enable|Rotate|Replay|Assign|Release|Remove|Set)\b|^Test$/;
const PAGES = [
  ['/', 'Overview'],
  ['/usage', 'Usage'],
  ['/generations', 'Generations'],
  ['/refusals', 'Refused calls'],
  ['/destinations', 'Destinations'],
  ['/models', 'Models and providers'],
  ['/keys', 'Keys'],
  ['/provider-keys', 'Provider keys'],
  ['/guardrails', 'Guardrails'],
  ['/workspaces', 'Workspaces'],
  ['/alerts', 'Alerts'],
] as const;

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
/** The navigation of a narrow window is closed. */
const widen = (page: Page) => page.setViewportSize({ width: 1280, height: 860 });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const entries = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();

/** The browser's clock, not that of the service. */
async function passTime(page: Page, milliseconds: number): Promise<void> {
  await page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${milliseconds}; }`);
}

describeInChromium('people in the console', () => {
  let setup: SignInConsole;
  const mapGroup = (group: string, role: string, workspaceId?: string) =>
    askFor(201, setup.app, 'post', '/group-mappings', {
      body: { issuer: setup.provider.issuer, group, role, workspace_id: workspaceId },
    });
  beforeAll(async () => {
    setup = await startSignInConsole();
    await mapGroup('admins', 'admin');
    await mapGroup('viewers', 'viewer');
    await mapGroup('developers', 'developer');
    await mapGroup('team-admins', 'admin', setup.app.workspaceId);
    await mapGroup('team-members', 'member', setup.app.workspaceId);
    for (const input of ['one', 'two']) await embed(setup.app, { model: LOCAL, input });
  });
  afterAll(() => setup.close());

  it('sign in by a provider on another site, and the page works at once with a Strict cookie (V37)', async () => {
    const { page, context, complaints, close } = await setup.open();
    setup.provider.person = ANN;
    await page.goto('/keys?disabled=hidden');
    await page.getByText('You return to the page that you were on.').waitFor();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await widen(page);
    await clickProvider(page);
    await heading(page, 'Keys');
    expect(new URL(page.url()).search).toBe('?disabled=hidden');
    await page.getByText('ann@example.com').waitFor();
    await page.getByText('Admin', { exact: true }).waitFor();
    const cookies = await context.cookies();
    const session = cookies.find(({ name }) => name.includes('signalbox_session_'));
    expect(session).toMatchObject({ sameSite: 'Strict', httpOnly: true });
    expect(cookies.find(({ name }) => name.includes('signalbox_sign_in'))).toBeUndefined();
    await waitUntilLoaded(page);
    expect(complaints).toEqual([]);
    await close();
  });

  it('renew their session by the provider at a navigation, without a prompt (V53)', async () => {
    const { page, context, complaints, close } = await setup.openAs(ANN);
    await heading(page, 'Overview');
    const sessionOf = async () =>
      (await context.cookies()).find(({ name }) => name.includes('signalbox_session_'))?.value;
    const first = await sessionOf();
    const asked = setup.provider.authorizations.length;
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await heading(page, 'Keys');
    expect(setup.provider.authorizations).toHaveLength(asked);
    await passTime(page, 56 * MINUTE);
    await page.getByRole('link', { name: 'Destinations', exact: true }).click();
    await eventually(sessionOf, (value) => value !== first);
    await heading(page, 'Destinations');
    expect(setup.provider.authorizations).toHaveLength(asked + 1);
    expect(new URL(page.url()).pathname).toBe('/destinations');
    await page.goBack();
    await heading(page, 'Keys');
    expect(complaints).toEqual([]);
    await close();
  });

  it('stay signed out: the sign-in page starts nothing by itself (V51)', async () => {
    const { page, complaints, close } = await setup.openAs(ANN);
    await heading(page, 'Overview');
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    const link = page.getByRole('link', { name: 'sign out there as well' });
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^${setup.provider.issuer}/`));
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('link', { name: `Sign in with ${PROVIDER_NAME}` }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(complaints).toEqual([]);
    await close();
  });

  it('without a role see one page, and go on when they get one', async () => {
    const { page, complaints, expectStatus, close } = await setup.openAs(EVE);
    expectStatus(403);
    await heading(page, 'You wait for a role');
    await page.getByText('Ask an owner or admin of the account for one.', { exact: false }).waitFor();
    expect(await entries(page)).toEqual([]);
    await expectAccessibleEverywhere(page);
    await page.goto('/keys');
    await heading(page, 'You wait for a role');
    const { data } = await askFor<{ data: { id: string; email: string; state: string }[] }>(
      200,
      setup.app,
      'get',
      '/organization/members',
    );
    const [first] = data;
    expect(first).toMatchObject({ email: 'eve@example.com', state: 'waiting' });
    await askFor(200, setup.app, 'patch', `/organization/members/${first?.id}`, {
      body: { account_role: 'viewer' },
    });
    await eventually(
      async () => {
        const button = page.getByRole('button', { name: 'Look again' });
        if (await button.isVisible()) await button.click();
        return page.getByRole('heading', { level: 1 }).innerText();
      },
      (title) => title === 'Keys',
    );
    expect(complaints).toEqual([]);
    await close();
  });

  it('lose the role of a group that they have left, at their next sign-in (V40)', async () => {
    const { page, close } = await setup.openAs({ ...BOB, sub: 'carl', email: 'carl@example.com' });
    await heading(page, 'Overview');
    setup.provider.person = { ...BOB, sub: 'carl', email: 'carl@example.com', groups: [] };
    await passTime(page, 56 * MINUTE);
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await heading(page, 'You wait for a role');
    await close();
  });

  it('are refused with a page that leads back when roles depend on groups and the provider sends none', async () => {
    const { page, expectStatus, close } = await setup.open();
    const { groups: _groups, ...claims } = EVE;
    setup.provider.person = { ...claims, sub: 'no-groups' };
    expectStatus(403);
    await page.goto('/sign-in');
    await page.getByRole('link', { name: `Sign in with ${PROVIDER_NAME}` }).click();
    await page.getByText('the identity provider sent no claim groups', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Back to the sign-in page' }).click();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await close();
  });

  it('with the role viewer see no button that changes something, and no page above their role', async () => {
    const { page, complaints, close } = await setup.openAs(BOB);
    await heading(page, 'Overview');
    const shown = await entries(page);
    expect(shown).not.toEqual(expect.arrayContaining(['Playground']));
    for (const name of ['Playground', 'People', 'Audit log', 'Sign-in', 'System'])
      expect(shown).not.toContain(name);
    for (const [path, title] of PAGES) {
      await visit(page, path, title);
      const main = page.getByRole('main');
      const buttons = await main.getByRole('button').or(main.getByRole('link')).allInnerTexts();
      expect([path, buttons.filter((name) => CHANGES.test(name))]).toEqual([path, []]);
    }
    await page.goto('/system');
    await page.getByText('It needs the role admin of the account').waitFor();
    await expectAccessibleEverywhere(page);
    await page.goto('/destinations/new');
    await page.getByText('It needs the role admin of the workspace').waitFor();
    await page.goto('/playground');
    await page.getByText('It needs the role developer or admin').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it.each([
    ['admins', ['Audit log', 'People', 'Playground', 'System'], []],
    [
      'developers',
      ['Playground', 'Keys'],
      ['Destinations', 'Provider keys', 'Alerts', 'Audit log', 'People', 'System'],
    ],
    ['team-admins', ['Playground', 'Audit log', 'Destinations'], ['People', 'Sign-in', 'System']],
    ['team-members', ['Playground', 'Keys'], ['Destinations', 'Audit log', 'People', 'System']],
  ])('of the group %s see no page that the service refuses', async (group, some, none) => {
    const { page, complaints, close } = await setup.openAs({
      ...BOB,
      sub: group,
      email: `${group}@example.com`,
      groups: [group],
    });
    await heading(page, 'Overview');
    const shown = await entries(page);
    expect(shown).toEqual(expect.arrayContaining(some));
    expect(shown.filter((name) => none.includes(name))).toEqual([]);
    for (const name of shown) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
      await heading(page, name);
      await waitUntilLoaded(page);
      expect([name, complaints]).toEqual([name, []]);
    }
    await close();
  });

  it('are listed with roles and their sources, and an admin gives a role and disables one', async () => {
    const bob = await setup.openAs(BOB);
    await heading(bob.page, 'Overview');
    const { page, complaints, close } = await setup.openAs(ANN);
    await visit(page, '/people', 'People');
    const row = page.getByRole('row', { name: /bob@example\.com/ });
    await row.getByText('by a group').waitFor();
    await row.getByText('Active').waitFor();
    // Nothing about the reader's own role can be changed.
    expect(await page.getByRole('button', { name: 'Actions for Ann Lee' }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await press(page, 'Actions for bob@example.com');
    await page.getByRole('menuitem', { name: 'Change account role' }).click();
    const role = page.getByLabel('Role given by hand');
    expect(await role.locator('option').allInnerTexts()).toEqual([
      'None',
      expect.stringMatching(/^Admin/),
      expect.stringMatching(/^Developer/),
      expect.stringMatching(/^Viewer/),
    ]);
    await expectAccessible(page);
    await role.selectOption('developer');
    await press(page, 'Save');
    await row.getByText('developer by hand, viewer by a group').waitFor();
    await press(page, 'Actions for bob@example.com');
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByText('keys that this person has made stop', { exact: false }).waitFor();
    await press(page, 'Disable');
    await row.getByText('Disabled').waitFor();
    await eventually(
      () => bob.page.evaluate<number>(`fetch('/console/session').then(({ status }) => status)`),
      (status) => status === 401,
    );
    await press(page, 'Actions for bob@example.com');
    await page.getByRole('menuitem', { name: 'Enable' }).click();
    await row.getByText('Active').waitFor();
    expect(complaints).toEqual([]);
    await bob.close();
    await close();
  });

  it('see how sign-in is configured, and change the roles that groups give', async () => {
    const { page, complaints, close } = await setup.openAs(ANN);
    await visit(page, '/sign-in-settings', 'Sign-in');
    await page.getByText('Answers', { exact: true }).waitFor();
    await page.getByText('/console/sign-in/oidc/callback', { exact: false }).waitFor();
    await page.getByText('email_verified').waitFor();
    await page.getByRole('cell', { name: 'admins', exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await press(page, 'Add group');
    await page.getByLabel('Group', { exact: true }).fill('support');
    await page.getByLabel('In', { exact: true }).selectOption({ label: 'Default' });
    await page.getByLabel('Role', { exact: true }).selectOption('member');
    await expectAccessible(page);
    await press(page, 'Add');
    await page.getByRole('row', { name: /support Member/ }).waitFor();
    await press(page, 'Remove support');
    await press(page, 'Remove');
    await page.getByRole('row', { name: /support Member/ }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await close();
  });

  it('sign in again beside a page whose session has ended, which keeps what was typed', async () => {
    const { page, context, complaints, close }: OpenConsole = await setup.openAs(ANN);
    await visit(page, '/destinations/new?kind=webhook', 'Add Webhook');
    await page.getByLabel('Name', { exact: true }).fill('Half a destination');
    await setup.app.sql('DELETE FROM console_sessions WHERE person_id IS NOT NULL');
    await press(page, 'Test');
    const dialog = page.getByRole('dialog', { name: 'Sign in to signalbox' });
    await dialog.getByText('The page keeps what you have typed.').waitFor();
    await expectAccessible(page);
    const beside = context.waitForEvent('page');
    await dialog.getByRole('link', { name: `Sign in with ${PROVIDER_NAME}` }).click();
    await heading(await beside, 'Add Webhook');
    await page.bringToFront();
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a destination');
    expect(complaints).toEqual([]);
    await close();
  });
});
