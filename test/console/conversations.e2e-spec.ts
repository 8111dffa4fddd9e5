// Stored chats as their reader sees them: formatted, raw and as JSON, with tool calls, and among the calls of their session.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { toContentCall } from '../../src/domain/generations/chat-content.js';
import type { ChatContent, ContentMessage } from '../../src/domain/generations/chat-content.js';
import type { GenerationContent } from '../../src/domain/generations/generation-content.js';
import { generationHeaderId } from '../../src/domain/identifiers.js';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';
import { askFor } from '../support/requests/admin.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ELSEWHERE = 'https://images.example/photo.png';

const ANSWER_TEXT = `# Forecast

It will be **cold**, with *some* ~~rain~~ snow:

1. Coat
2. Gloves

| City | Degrees |
| ---- | ------: |
| Oslo | -3 |

\`\`\`js
const oslo = -3;
\`\`\`

See [the map](https://maps.example/oslo) or [your keys](/keys), but [not this](javascript:alert(1)).

![a photo](${ELSEWHERE}) ![a pixel](${PIXEL})

<img src=x onerror="alert(1)">`;

const WEATHER = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' };

function chatOf(messages: readonly ContentMessage[], answer: Partial<ChatContent['choices'][number]>) {
  return {
    items: [],
    isTruncated: false,
    errorMessage: null,
    chat: {
      messages,
      tools: [],
      stop: [],
      responseSchema: null,
      isOutputTruncated: false,
      choices: [
        {
          index: 0,
          content: null,
          reasoning: null,
          refusal: null,
          toolCalls: [],
          finishReason: 'stop',
          nativeFinishReason: null,
          ...answer,
        },
      ],
    },
  } satisfies GenerationContent;
}

const CHAT = chatOf(
  [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'How is it **there**?' },
        { type: 'image_url', image_url: { url: ELSEWHERE } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [toContentCall(WEATHER)] },
    { role: 'tool', tool_call_id: 'call_1', content: '{"degrees":-3}' },
  ],
  { content: ANSWER_TEXT, reasoning: 'The user wants the weather.' },
);

describeInChromium('conversations of stored calls', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());

  async function showContent(content: GenerationContent): Promise<void> {
    const [id] = await recordGenerations(setup.app, 1, { operation: 'chat' }, content);
    await visit(page, `/generations/${id}`, 'Generation');
    await page.getByRole('button', { name: 'Show content' }).click();
    await waitUntilLoaded(page);
  }
  const message = (who: string) => page.getByRole('article', { name: who, exact: true });

  const view = (name: string) =>
    page.getByRole('group', { name: 'View of the content' }).getByText(name, { exact: true }).click();

  it('format Markdown, and load nothing from elsewhere', async () => {
    await showContent(CHAT);
    const answer = message('Answer');
    await answer.locator('strong', { hasText: 'cold' }).waitFor();
    await answer.locator('li', { hasText: 'Gloves' }).waitFor();
    await answer.getByRole('cell', { name: '-3', exact: true }).waitFor();
    expect(await answer.getByRole('group', { name: 'code' }).textContent()).toBe('const oslo = -3;');
    const map = answer.getByRole('link', { name: 'the map' });
    expect(await map.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(await map.getAttribute('target')).toBe('_blank');
    expect(await answer.getByRole('link').allTextContents()).toEqual(['the map', 'images.example']);
    await answer.getByText('<img src=x onerror="alert(1)">').waitFor();
    expect(
      await answer.locator('img').evaluateAll((images) => images.map((image) => image.getAttribute('src'))),
    ).toEqual([PIXEL]);
    await answer.getByText('a photo, not loaded: images.example').waitFor();
    await message('User').getByText('Image, not loaded: images.example').waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(session.complaints).toEqual([]);
  });

  it('show reasoning folded, and each tool call with its result', async () => {
    await showContent(CHAT);
    const reasoning = message('Answer').getByText('The user wants the weather.');
    expect(await reasoning.isVisible()).toBe(false);
    await message('Answer').getByText('Reasoning').click();
    await reasoning.waitFor();
    const call = message('Assistant').getByRole('list', { name: 'Tool calls' }).getByRole('listitem');
    await call.getByText('"city": "Oslo"').waitFor();
    await call.getByText('"degrees": -3').waitFor();
    expect(await message('Result of a tool').count()).toBe(0);
  });

  it('are shown raw and as JSON as well', async () => {
    await showContent(CHAT);
    await view('Raw');
    await message('User').getByText('How is it **there**?').waitFor();
    await message('Answer')
      .getByText(/\| Oslo \| -3 \|/)
      .waitFor();
    await view('JSON');
    const json = page.getByRole('group', { name: 'content', exact: true });
    expect(JSON.parse((await json.textContent()) ?? '')).toMatchObject({
      output: { completion: ANSWER_TEXT },
    });
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('stay quick to read when their text is made to be slow', async () => {
    await showContent(
      chatOf([{ role: 'user', content: '_a __b'.repeat(10_000) }], { content: '[a]('.repeat(40_000) }),
    );
    await message('User').getByText('_a __b').waitFor();
    // Too long to be formatted.
    await message('Answer').getByText('[a](').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('stand among the earlier and later calls of their session, in order of time', async () => {
    const ids: string[] = [];
    for (const minute of [1, 2, 3, 4]) {
      const createdAt = new Date(Date.now() - 600_000 + minute * 60_000);
      ids.push(
        ...(await recordGenerations(setup.app, 1, { operation: 'chat', sessionId: 'trip', createdAt }, CHAT)),
      );
    }
    await visit(page, `/generations/${ids[1]}`, 'Generation');
    const calls = page.getByRole('table', { name: 'Calls of the session' });
    const times = () =>
      calls
        .getByRole('row')
        .locator('time')
        .evaluateAll((all) => all.map((time) => time.getAttribute('datetime')));
    await calls.getByText('This call').waitFor();
    const shown = await times();
    expect(shown).toHaveLength(4);
    expect(shown).toEqual(shown.toSorted((one, other) => String(one).localeCompare(String(other))));
    expect(await calls.getByRole('row').nth(2).getByText('This call').count()).toBe(1);
    await calls.getByRole('link').nth(1).click();
    await calls.getByRole('row').nth(3).getByText('This call').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/generations/${generationHeaderId(ids[2] ?? '')}`);
    await page.getByRole('link', { name: 'All calls of the session' }).click();
    await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
    expect(new URL(page.url()).searchParams.get('session')).toBe('trip');
    expect(session.complaints).toEqual([]);
  });

  it('lead to their key, model, session, user and destinations', async () => {
    const { app } = setup;
    await askFor(201, app, 'post', '/observability/destinations', {
      body: { type: 'webhook', name: 'Archive', config: { url: 'https://traces.example/' } },
    });
    const facts = { operation: 'chat', sessionId: 'links', userId: 'ada' } as const;
    const [id] = await recordGenerations(app, 1, facts, CHAT);
    await visit(page, `/generations/${id}`, 'Generation');
    const details = page.getByRole('region', { name: 'Details' });
    const [key, ...calls] = await details
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(key).toMatch(/^\/keys\/[0-9a-f]{64}$/);
    expect(calls).toEqual([
      '/generations?model=openai%2Ftext-embedding-3-small',
      '/generations?session=links',
      '/generations?user=ada',
    ]);
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await deliveries.getByRole('link', { name: 'Archive' }).click();
    await page.getByRole('heading', { level: 1, name: 'Archive' }).waitFor();
  });
});
