// Federation policies in the console: added for a job, changed, disabled, deleted.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { eventually } from '../support/eventually.js';
import { exchange, formOf, goodClaims } from '../support/federation/exchange.js';
import { createSigningKey } from '../support/federation/issuer.js';
import { ask, askFor } from '../support/requests/admin.js';

describeInChromium('workload identity in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    await setup.app.createKey({ name: 'Evaluations' });
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const policyId = () => String(new URL(page.url()).pathname.split('/').at(-1));
  const policy = async () =>
    (
      await askFor<{ data: Record<string, unknown> }>(
        200,
        setup.app,
        'get',
        `/federation-policies/${policyId()}`,
      )
    ).data;

  it('says which step comes next when there is no policy', async () => {
    await visit(page, '/workload-identity', 'Workload identity');
    await page.getByText('No policy yet').waitFor();
    await expectAccessibleEverywhere(page);
  });

  it('begins with the facts of a platform, and shows beside its field why a policy cannot work', async () => {
    await page.getByRole('link', { name: 'Add policy' }).first().click();
    await page.getByRole('heading', { name: 'Add a policy' }).waitFor();
    expect(await page.getByLabel('Issuer', { exact: true }).inputValue()).toBe(
      'https://token.actions.githubusercontent.com',
    );
    expect(await page.getByLabel('Audience', { exact: true }).inputValue()).toBe(setup.app.origin);
    await fill('Name', 'Nightly evaluations');
    await fill('Subject', 'repo:acme/shop*');
    await page.getByText(/stands for everything that follows/).waitFor();
    await fill('Further claims', '{ repository_visibility }');
    await press('Create policy');
    await page.getByText('Is no valid JSON').waitFor();
    await fill('Further claims', '{ "repository_visibility": "private" }');
    await press('Create policy');
    await page.getByText('Choose a key').waitFor();
    await page.getByRole('radio', { name: 'Evaluations' }).check();
    session.expectStatus(400);
    await press('Create policy');
    await page.getByText(/Must have no \*, or one at its end/).waitFor();
    await expectAccessibleEverywhere(page);
    await page.getByRole('link', { name: 'Another issuer' }).click();
    await page.getByText(/jwks_uri/).waitFor();
    await expectAccessibleEverywhere(page);
  });

  it('creates the policy of a pod with the keys of its cluster, whose token is then exchanged', async () => {
    const key = await createSigningKey('cluster-key');
    await page.getByRole('link', { name: 'Kubernetes' }).click();
    await fill('Name', 'Evaluator');
    await fill('Issuer', 'https://kubernetes.default.svc.cluster.local');
    await fill('Subject', 'system:serviceaccount:shop:evaluator');
    await page.getByRole('radio', { name: 'Evaluations' }).check();
    await press('Create policy');
    await page.getByText('Paste the keys of the issuer').waitFor();
    await fill('Key set (JWKS)', JSON.stringify({ keys: [key.publicKey] }));
    await press('Create policy');
    await page.getByRole('heading', { level: 1, name: 'Evaluator' }).waitFor();
    await page.getByText(/has no limit of its own/).waitFor();
    await page.getByText(/expirationSeconds: 3600/).waitFor();
    await expectAccessibleEverywhere(page);
    expect(await policy()).toMatchObject({
      issuer: 'https://kubernetes.default.svc.cluster.local',
      audience: setup.app.origin,
      jwks_url: null,
      max_ttl_seconds: 900,
      enabled: true,
    });
    const claims = {
      ...goodClaims(setup.app),
      iss: 'https://kubernetes.default.svc.cluster.local',
      aud: setup.app.origin,
      sub: 'system:serviceaccount:shop:evaluator',
    };
    const answer = await exchange(setup.app, formOf(policyId(), await key.sign(claims)));
    expect(answer.status).toBe(200);
    const { access_token: token } = answer.body as { access_token: string };
    const statusOfToken = async () => (await ask(setup.app, 'get', '/key', { key: token })).status;
    expect(await statusOfToken()).toBe(200);
    await press('Further actions for Evaluator');
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByText(/end within two seconds/).waitFor();
    await press('Disable');
    await page.getByText('Off', { exact: true }).waitFor();
    await eventually(statusOfToken, (status) => status === 401);
  });

  it('changes the one member that was changed, and enables the policy', async () => {
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('heading', { name: 'Edit Evaluator' }).waitFor();
    await fill('Access tokens live for at most', '300');
    await expectAccessibleEverywhere(page);
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press('Save');
    expect((await sent).postDataJSON()).toEqual({ max_ttl_seconds: 300 });
    await page.getByText(/lives for 5 min at most/).waitFor();
    await press('Further actions for Evaluator');
    await page.getByRole('menuitem', { name: 'Enable' }).click();
    await page.getByText('On', { exact: true }).waitFor();
    expect(await policy()).toMatchObject({ enabled: true, max_ttl_seconds: 300 });
  });

  it('lists the policy with its job and key, and deletes it after a question', async () => {
    await visit(page, '/workload-identity', 'Workload identity');
    await page.getByText('system:serviceaccount:shop:evaluator').waitFor();
    await page.getByRole('link', { name: 'Evaluations' }).waitFor();
    await expectAccessibleEverywhere(page);
    await page.getByRole('link', { name: 'Evaluator', exact: true }).click();
    await press('Further actions for Evaluator');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await press('Delete');
    await page.getByText('No policy yet').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('shows the commands of a workflow for a policy of GitHub Actions', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', '/federation-policies', {
      body: {
        name: 'Deployments '.repeat(60),
        issuer: 'https://token.actions.githubusercontent.com',
        audience: 'https://signalbox.example.com',
        subject: 'repo:acme/shop:ref:refs/heads/main',
        jwks_url: 'https://token.actions.githubusercontent.com/.well-known/jwks',
        api_key_hash: setup.app.key.hash,
      },
    });
    await visit(page, `/workload-identity/${data.id}`, /^Deployments/);
    await page.getByText(/id-token: write/).waitFor();
    await page.getByText(new RegExp(`federation_policy_id=${data.id}`)).waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });
});
