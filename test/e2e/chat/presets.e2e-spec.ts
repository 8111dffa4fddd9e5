// Presets in calls: whose members count, in every wire, and what a preset cannot do.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestApp } from '../../support/app/app.js';
import { recordStatements } from '../../support/database/statements.js';
import { eventually } from '../../support/eventually.js';
import { CLAUDE, OPEN_MODEL, postMessages, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { WHOLE_MESSAGE } from '../../support/messages/messages-stub.js';
import { askFor } from '../../support/requests/admin.js';
import { chatsOf, postChat } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

type Members = Readonly<Record<string, unknown>>;
const HI = [{ role: 'user', content: 'hi' }];
const TOOL = {
  type: 'function',
  function: { name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } },
};

let setup: MessagesApp;
let app: TestApp;
beforeAll(async () => {
  setup = await startMessagesApp();
  ({ app } = setup);
});
beforeEach(() => setup.anthropic.answerWith(null));
afterAll(() => setup.close());

const preset = (slug: string, body: Members, wire = 'chat/completions', key = app.managementKey) =>
  askFor<{ data: { id: string; designated_version: { version: number } } }>(
    200,
    app,
    'post',
    `/presets/${slug}/${wire}`,
    { body: { messages: HI, ...body }, key },
  );
const change = (slug: string, body: Members) => askFor(200, app, 'patch', `/presets/${slug}`, { body });
const respond = (body: Members): Promise<Response> =>
  fetch(`${app.baseUrl}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${app.apiKey}` },
    body: JSON.stringify({ input: 'hi', ...body }),
  });
const sentToChat = (): Members => setup.chat.requests.at(-1)!.body;
const sentToClaude = (): Members => setup.anthropic.requests.at(-1)!.body;
const messageOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { message: string } }).error.message;

describe('a call that names a preset', () => {
  it('has the members of the preset but for its own ones, and null is no member (G51)', async () => {
    await preset('limited', { model: OPEN_MODEL, max_tokens: 100, temperature: 0.25 });
    for (const [own, sent] of [
      [{}, 100],
      [{ max_tokens: 50 }, 50],
      [{ max_tokens: null }, 100],
      [{ max_completion_tokens: 70 }, 70],
    ] as const) {
      expect((await postChat(app, { model: '@preset/limited', ...own })).status).toBe(200);
      expect(sentToChat()).toMatchObject({ model: 'open-model', max_tokens: sent, temperature: 0.25 });
    }
  });

  it('may name a model of its own, beside the preset or before it', async () => {
    await preset('of-claude', { model: CLAUDE, temperature: 0.5 });
    for (const names of [
      { model: OPEN_MODEL, preset: 'of-claude' },
      { model: `${OPEN_MODEL}@preset/of-claude` },
    ]) {
      expect((await postChat(app, names)).status).toBe(200);
      expect(sentToChat()).toMatchObject({ model: 'open-model', temperature: 0.5 });
    }
    const twice = await postChat(app, { model: '@preset/of-claude', preset: 'limited' });
    expect([twice.status, await messageOf(twice)]).toEqual([400, expect.stringContaining('preset: differs')]);
  });

  it('puts the system prompt of the preset before the words of the caller, in every wire', async () => {
    await preset('polite', {
      model: OPEN_MODEL,
      messages: [
        { role: 'system', content: 'Be "polite".' },
        { role: 'user', content: 'not kept' },
      ],
    });
    const own = { role: 'system', content: 'Be brief.' };
    await postChat(app, { model: '@preset/polite', messages: [own, ...HI] });
    expect(sentToChat()['messages']).toEqual([{ role: 'system', content: 'Be "polite".' }, own, ...HI]);
    for (const system of ['Be brief.', [{ type: 'text', text: 'Be brief.' }]]) {
      await postMessages(app, { model: `${CLAUDE}@preset/polite`, system });
      expect(sentToClaude()['system']).toEqual([
        { type: 'text', text: 'Be "polite".' },
        { type: 'text', text: 'Be brief.' },
      ]);
    }
    await postMessages(app, { model: `${CLAUDE}@preset/polite` });
    expect(sentToClaude()['system']).toBe('Be "polite".');
    expect((await respond({ model: '@preset/polite', instructions: 'Be "brief".' })).status).toBe(200);
    expect(sentToChat()['messages']).toEqual([
      { role: 'system', content: 'Be "polite".\n\nBe "brief".' },
      { role: 'user', content: 'hi' },
    ]);
  });

  it('keeps the bytes of the caller', async () => {
    await preset('plain', { model: CLAUDE, max_tokens: 500, top_k: 7 });
    const messages = '[ {"role":"user" , "content":"\\u0068i", "weight": 1.50} ]';
    expect((await postMessages(app, `{"messages":${messages},"model":"@preset/plain"}`)).status).toBe(200);
    const { text } = setup.anthropic.requests.at(-1)!;
    expect(text).toContain(messages);
    expect(JSON.parse(text)).toMatchObject({ model: 'claude-stub', max_tokens: 500, top_k: 7 });
  });

  it('carries tools, format and reasoning from one wire to the others', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } };
    await preset('rich', {
      model: CLAUDE,
      max_completion_tokens: 4_000,
      seed: 11,
      stop: 'END',
      tools: [TOOL],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      response_format: format,
    });
    expect((await postMessages(app, JSON.stringify({ model: '@preset/rich', messages: HI }))).status).toBe(
      200,
    );
    expect(sentToClaude()).toMatchObject({
      max_tokens: 4_000,
      stop_sequences: ['END'],
      tools: [{ name: 'look_up', description: 'Looks up.', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect((await respond({ model: OPEN_MODEL, preset: 'rich' })).status).toBe(200);
    expect(sentToChat()).toMatchObject({ max_tokens: 4_000, tools: [TOOL], response_format: format });
    // The wire of messages has no seed: an endpoint of another wire gets it.
    expect((await postMessages(app, { model: OPEN_MODEL, preset: 'rich' })).status).toBe(200);
    expect(sentToChat()).toMatchObject({ max_tokens: 2_000, tools: [TOOL], stop: ['END'] });

    await preset(
      'of-messages',
      {
        model: CLAUDE,
        max_tokens: 900,
        system: [{ type: 'text', text: 'Be kind.' }],
        tools: [{ name: 'look_up', description: 'Looks up.', input_schema: TOOL.function.parameters }],
        tool_choice: { type: 'tool', name: 'look_up' },
        stop_sequences: ['END'],
      },
      'messages',
    );
    expect((await postChat(app, { model: OPEN_MODEL, preset: 'of-messages' })).status).toBe(200);
    expect(sentToChat()).toMatchObject({
      max_tokens: 900,
      messages: [{ role: 'system', content: 'Be kind.' }, ...HI],
      tools: [TOOL],
      tool_choice: { type: 'function', function: { name: 'look_up' } },
      stop: ['END'],
    });
    await preset(
      'of-responses',
      {
        model: OPEN_MODEL,
        instructions: 'Be kind.',
        max_output_tokens: 800,
        text: { format: { type: 'json_object' } },
      },
      'responses',
    );
    expect((await postChat(app, { model: '@preset/of-responses' })).status).toBe(200);
    expect(sentToChat()).toMatchObject({
      max_tokens: 800,
      messages: [{ role: 'system', content: 'Be kind.' }, ...HI],
      response_format: { type: 'json_object' },
    });
  });

  it('leaves the version in its record, and counts its tokens with the system prompt', async () => {
    const { data } = await preset('recorded', { model: CLAUDE });
    await preset('recorded', { model: CLAUDE, messages: [{ role: 'system', content: 'Twice.' }, ...HI] });
    const key = await app.createKey();
    const called = await postChat(app, { model: '@preset/recorded' }, { key: key.secret });
    const { id, model } = (await called.json()) as { id: string; model: string };
    expect(model).toBe(CLAUDE);
    const { data: record } = await askFor<{ data: Members }>(200, app, 'get', `/generation?id=${id}`, {
      key: key.secret,
    });
    expect(record).toMatchObject({
      preset_id: data.id,
      preset: 'recorded',
      preset_version: 2,
      model: CLAUDE,
    });
    const counted = await postMessages(
      app,
      { model: '@preset/recorded' },
      { path: '/v1/messages/count_tokens' },
    );
    expect(await counted.json()).toEqual({ input_tokens: 77 });
    expect(sentToClaude()['system']).toBe('Twice.');
  });
});

describe('a call is refused', () => {
  it('with 404 where its workspace has no such preset, or one that is disabled or archived', async () => {
    const stranger = await app.createAccount();
    await preset('of-a-stranger', { model: OPEN_MODEL }, 'chat/completions', stranger.managementKey);
    await preset('switched-off', { model: OPEN_MODEL });
    expect((await postChat(app, { model: '@preset/switched-off' })).status).toBe(200);
    await change('switched-off', { status: 'disabled' });
    await preset('gone', { model: OPEN_MODEL });
    await askFor(200, app, 'delete', '/presets/gone');
    for (const slug of ['unknown', 'of-a-stranger', 'switched-off', 'gone', 'no slug/at all']) {
      const refused = await postChat(app, { model: `@preset/${slug}` });
      expect([refused.status, await messageOf(refused)]).toEqual([
        404,
        `Resource not found: there is no preset ${slug} in this workspace`,
      ]);
    }
    await change('gone', { status: 'active' });
    expect((await postChat(app, { model: '@preset/gone' })).status).toBe(200);
  });

  it('with 400 where neither it nor its preset names a model, and for a preset that is no text', async () => {
    await preset('nameless', { temperature: 0.1 });
    for (const refused of [
      await postChat(app, { model: '@preset/nameless' }),
      await postMessages(app, { model: '@preset/nameless' }),
      await respond({ preset: 'nameless' }),
    ])
      expect([refused.status, await messageOf(refused)]).toEqual([
        400,
        expect.stringContaining('model: the preset nameless has no model'),
      ]);
    expect((await postChat(app, { preset: 7 })).status).toBe(400);
    await preset('listed', { models: [CLAUDE, OPEN_MODEL] });
    expect((await postMessages(app, { model: '@preset/listed' })).status).toBe(200);
  });

  it('by the limits of its key, whatever the preset asks for', async () => {
    await preset('expensive', { model: CLAUDE, max_tokens: 30_000 });
    const poor = await app.createKey({ limit: 1_000n });
    const refused = await postChat(app, { model: '@preset/expensive' }, { key: poor.secret });
    expect(refused.status).toBe(402);
    const denied = { provider: { data_collection: 'deny' } };
    await preset('collecting', { model: OPEN_MODEL, provider: { data_collection: 'allow' } });
    expect((await postChat(app, { model: '@preset/collecting', ...denied })).status).toBe(200);
  });
});

describe('a version that is new', () => {
  it('is read by one statement, and by none while it is cached', async () => {
    await preset('cached', { model: OPEN_MODEL });
    const count = async (body: Members): Promise<number> => {
      const recording = recordStatements();
      try {
        expect((await postChat(app, body)).status).toBe(200);
        return [...recording.statements.keys()].filter((text) => text.includes('presets')).length;
      } finally {
        recording.stop();
      }
    };
    expect(await count({ model: '@preset/cached' })).toBe(1);
    expect(await count({ model: '@preset/cached' })).toBe(0);
    expect(await count({ model: OPEN_MODEL })).toBe(0);
  });

  it('ends the signatures of thoughts that were made under another one', async () => {
    await preset('thinking', { model: CLAUDE, messages: [{ role: 'system', content: 'One.' }, ...HI] });
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig-under-the-first' };
    const content = [thought, { type: 'text', text: 'ok' }];
    setup.anthropic.answerWith((_request, response) =>
      sendJson(response, 200, { ...WHOLE_MESSAGE, content }),
    );
    const history = [...HI, { role: 'assistant', content }, { role: 'user', content: 'go on' }];
    const sent = async (): Promise<string> => {
      expect((await postMessages(app, { model: '@preset/thinking', messages: history })).status).toBe(200);
      return setup.anthropic.requests.at(-1)!.text;
    };
    await postMessages(app, { model: '@preset/thinking' });
    expect(await sent()).toContain('sig-under-the-first');
    await preset('thinking', { model: CLAUDE, messages: [{ role: 'system', content: 'Two.' }, ...HI] });
    setup.anthropic.answerWith(null);
    const key = await app.createKey();
    await postMessages(
      app,
      { model: '@preset/thinking', messages: history },
      { headers: { 'x-api-key': key.secret } },
    );
    expect(setup.anthropic.requests.at(-1)!.text).not.toContain('sig-under-the-first');
    const [record] = await eventually(
      () => chatsOf(app, key.record.id),
      ({ length }) => length > 0,
    );
    expect(record!.attempts[0]!.droppedMembers).toEqual(['messages.content.thinking']);
    await change('thinking', { designated_version: 1 });
    expect(await sent()).toContain('sig-under-the-first');
  });
});
