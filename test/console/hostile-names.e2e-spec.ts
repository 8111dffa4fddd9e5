// Names of 1,000 characters, from right to left, and with HTML: nothing breaks, nothing executes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, expectAccessible, openConsole, visit, WIDTHS } from '../support/chromium.js';
import { startConsole } from '../support/console-app.js';
import type { ConsoleSetup } from '../support/console-app.js';
import { embed, SMALL } from '../support/create-embedding.js';

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const NAMES = [HTML, 'מפתח של צוות החיפוש', 'W'.repeat(1000), '\u202etxt.exe'];

describeInChromium('hostile names in the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    for (const name of NAMES) {
      const { secret } = await app.createKey({ name });
      await embed(app, { model: SMALL, input: 'a', session_id: HTML, user: HTML }, secret);
    }
    await app.http
      .post('/api/v1/workspaces')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ name: HTML, slug: 'hostile' })
      .expect(201);
  });
  afterAll(async () => {
    await setup.close();
  });

  for (const width of WIDTHS) {
    it(`stay text, and do not widen a page of ${width} px`, async () => {
      const { page, complaints, close } = await openConsole(setup.browser, setup.app, { width });
      for (const [path, heading] of [
        ['/', 'Overview'],
        ['/?by=key', 'Overview'],
        ['/keys', 'Keys'],
        ['/generations', 'Generations'],
      ] as const) {
        await visit(page, path, heading);
        await expectAccessible(page);
      }
      await visit(page, '/keys', 'Keys');
      for (const name of NAMES) {
        await page.getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor();
        await expectAccessible(page);
        await page.goBack();
        await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      }
      expect(complaints).toEqual([]);
      await close();
    });
  }
});
