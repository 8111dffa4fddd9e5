// Times in the console: distances from the present time, and the days that the service counts.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, openConsole, signInWith, visit } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, rejectWith, SMALL } from '../support/requests/create-embedding.js';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
// Their days begin 9 and 14 hours before those of UTC: nearer to the next day of UTC, and to the one before.
const ZONES = ['Asia/Tokyo', 'Pacific/Kiritimati'];
const RECORD_TEXTS = `
  window.drawn = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    window.drawn.push({ text, x });
    fillText.call(this, text, x, y);
  };`;

interface DrawnText {
  readonly text: string;
  readonly x: number;
}

describeInChromium('times in the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
    const { app, upstream } = setup;
    upstream.answerWith(rejectWith(500, { error: { message: 'out of order' } }));
    expect((await embed(app, { model: SMALL, input: 'one' })).status).toBe(502);
    upstream.answerWith(null);
    expect((await embed(app, { model: SMALL, input: 'two' })).status).toBe(200);
  });
  afterAll(() => setup.close());

  it('follow the present, not the last half minute or the last page with times', async () => {
    const expiry = Date.now() + 24 * HOUR_MS;
    await setup.app.createKey({ name: 'Leaver', expiresAt: new Date(expiry) });
    const { page, close } = await openConsole(setup.browser, setup.app);
    const expires = (text: string) =>
      page.getByRole('row').filter({ hasText: 'Leaver' }).getByText(text, { exact: true }).waitFor();
    await page.clock.install({ time: expiry - 2 * HOUR_MS - 25 * SECOND_MS });
    await visit(page, '/keys', 'Keys');
    await expires('in 2 hours');
    await page.clock.pauseAt(expiry - 2 * HOUR_MS + SECOND_MS);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expires('in 1 hour');
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await page.clock.fastForward(HOUR_MS);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await expires('in 59 minutes');
    await close();
  });

  it('of the past are not to come for a reader whose clock is behind', async () => {
    const { page, close } = await openConsole(setup.browser, setup.app);
    await page.clock.setFixedTime(Date.now() - HOUR_MS);
    await visit(page, `/models/${SMALL}`, 'Text Embedding 3 Small');
    await page.getByRole('cell', { name: 'now, HTTP 500' }).waitFor();
    await close();
  });

  it.each(ZONES)(
    'are days of UTC in a chart of days, on its axis and at the pointer, in %s',
    async (zone) => {
      const { app, browser } = setup;
      const context = await browser.newContext({ baseURL: app.origin, timezoneId: zone });
      const page = await context.newPage();
      await signInWith(page, app.managementKey);
      await page.clock.setFixedTime('2026-06-15T12:00:00Z');
      await page.addInitScript(RECORD_TEXTS);
      await visit(page, '/?range=month', 'Overview');
      const chart = page.getByRole('img', { name: /^Calls/ });
      await chart.locator('canvas').waitFor();
      await page.waitForFunction('window.drawn.some(({ text }) => text.endsWith("Jun"))');
      const drawn = await page.evaluate<readonly DrawnText[]>('window.drawn');
      const tick = drawn.findLast(({ text }) => text.endsWith('Jun'));
      await chart.hover({ position: { x: tick?.x ?? 0, y: 100 } });
      await page.getByRole('figure').getByText(`${tick?.text} 2026`).waitFor();
      await context.close();
    },
  );
});
