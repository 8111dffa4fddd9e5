// Charts of the console: their colours with reduced motion, and axes of counts.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, openConsole, THEMES, visit } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';

/** Records what is drawn on canvases. */
const RECORD = `
  globalThis.drawn = { colours: new Set(), texts: new Set() };
  const canvas = CanvasRenderingContext2D.prototype;
  const { set, get } = Object.getOwnPropertyDescriptor(canvas, 'strokeStyle');
  Object.defineProperty(canvas, 'strokeStyle', {
    get,
    set(colour) { set.call(this, colour); drawn.colours.add(get.call(this)); },
  });
  const { fillText } = canvas;
  canvas.fillText = function (text, ...place) { drawn.texts.add(text); return fillText.call(this, text, ...place); };
`;

describeInChromium('charts of the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
    expect((await embed(setup.app, { model: LOCAL, input: 'one' })).status).toBe(200);
  });
  afterAll(() => setup.close());

  it.each(THEMES)('have their own grid and whole ticks with reduced motion, %s', async (theme) => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app, { theme });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.addInitScript(RECORD);
    await visit(page, '/', 'Overview');
    await page
      .getByRole('img', { name: /^Calls: from/ })
      .locator('canvas')
      .waitFor();
    const { colours, texts } = await page.evaluate<{ colours: string[]; texts: string[] }>(
      '({ colours: [...drawn.colours], texts: [...drawn.texts] })',
    );
    expect(colours).toContain(theme === 'light' ? '#dfe3e9' : '#2a303a');
    expect(texts.filter((text) => /^\d+\.\d+$/.test(text))).toEqual([]);
    expect(texts).toEqual(expect.arrayContaining(['0', '1']));
    // Hours around the only call, not months.
    expect(texts.some((text) => /^\d\d:00$/.test(text))).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  });

  it('show the median and the 95th percentile together, each with its name', async () => {
    const { page, close } = await openConsole(setup.browser, setup.app);
    await visit(page, '/?measure=latency', 'Overview');
    const legend = page.getByRole('list', { name: 'Legend' });
    await legend.getByText('Median (p50)').waitFor();
    await legend.getByText('95th percentile (p95)').waitFor();
    await close();
  });
});
