// Content filters of guardrails: calls of every operation and wire, before anything else reads their texts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DailyHits } from '../../../src/routing/guardrails/daily-hits.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { createGovernedKey, errorOf, postAs } from '../../support/guardrails/governed.js';
import type { Answer, GovernedKey } from '../../support/guardrails/governed.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import { askFor } from '../../support/requests/admin.js';
import { listRefusals, recordRefusals } from '../../support/requests/refusals.js';
import type { ReceivedRequest } from '../../support/upstreams/stub-upstream.js';

type Members = Readonly<Record<string, unknown>>;
type Key = Pick<GovernedKey, 'secret' | 'record'>;

const MATCH = 'sesame-42';
const BLOCK = { content_filters: [{ pattern: 'sesame-[0-9]+', action: 'block', label: 'CODE' }] };
const REDACT = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] };
const MAIL = 'ann@example.com';

let setup: MessagesApp;
let app: TestApp;
beforeAll(async () => {
  setup = await startMessagesApp({ RATE_LIMIT_CHANGES_PER_MINUTE: '10000' });
  ({ app } = setup);
});
afterAll(() => setup?.close());
beforeEach(() => {
  setup.anthropic.requests.length = 0;
  setup.chat.requests.length = 0;
});

const post = (key: Key, path: string, body: Members | string): Promise<Answer> =>
  postAs(app, key, path, body);
const chat = (key: Key, members: Members) =>
  post(key, 'chat/completions', { model: OPEN_MODEL, max_tokens: 10, ...members });
const said = (content: unknown): Members => ({ messages: [{ role: 'user', content }] });
const governed = async (settings: Members): Promise<GovernedKey> => {
  const key = await createGovernedKey(app, settings);
  setup.chat.requests.length = 0;
  return key;
};

const sent = (): readonly ReceivedRequest[] => [...setup.chat.requests, ...setup.anthropic.requests];

describe('a filter that blocks', () => {
  let key: GovernedKey;
  beforeAll(async () => {
    key = await governed(BLOCK);
  });

  it.each<[string, Members, string]>([
    ['chat/completions', { model: OPEN_MODEL, ...said(`say ${MATCH}`) }, 'messages[0].content'],
    ['chat/completions', { input: `say ${MATCH}`, model: OPEN_MODEL }, 'input'],
    ['messages', { model: CLAUDE, max_tokens: 9, system: MATCH, ...said('hi') }, 'system'],
    [
      'messages/count_tokens',
      { model: CLAUDE, ...said([{ type: 'text', text: MATCH }]) },
      'messages[0].content[0].text',
    ],
    ['responses', { model: OPEN_MODEL, input: 'hi', instructions: MATCH }, 'instructions'],
    ['embeddings', { model: 'openai/text-embedding-3-small', input: ['hi', MATCH] }, 'input[1]'],
    ['rerank', { model: 'cohere/rerank-v3.5', query: 'q', documents: [MATCH] }, 'documents[0]'],
  ])(
    'refuses a blocked text in POST /%s, sends nothing and names the guardrail, not the match (V8)',
    async (path, body, member) => {
      const refused = await post(key, path, body);
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining('Request blocked by a guardrail'),
      ]);
      expect(refused.text).not.toContain(MATCH);
      expect(refused.text).not.toContain('sesame-[');
      expect(refused.headers.get('x-should-retry')).toBe('false');
      if (path !== 'messages' && path !== 'messages/count_tokens')
        expect(errorOf(refused).metadata).toMatchObject({
          error_type: 'content_policy_violation',
          guardrail: { id: key.guardrail, name: 'Careful', scope: 'api_key' },
          filter: 'CODE',
          member,
        });
      expect(sent()).toEqual([]);
    },
  );

  it.each<[string, Members]>([
    [
      'other roles',
      {
        messages: [
          { role: 'system', content: MATCH },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
    ['tools', { ...said('hi'), tools: [{ type: 'function', function: { name: 'f', description: MATCH } }] }],
    [
      'schemas',
      {
        ...said('hi'),
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: { properties: { [MATCH]: { type: 'string' } } } },
          },
        ],
      },
    ],
    [
      'calls',
      {
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: `{"a":"${MATCH}"}` } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: 'ok' },
        ],
      },
    ],
    ['unknown members', { ...said('hi'), documents_of_mine: [{ text: MATCH }] }],
  ])('reads %s', async (_name, members) => {
    const refused = await chat(key, members);
    expect([refused.status, refused.text]).toEqual([403, expect.not.stringContaining(MATCH)]);
    expect(sent()).toEqual([]);
  });

  it('refuses a blocked text in both playgrounds as in every other operation (V8)', async () => {
    for (const [path, body] of [
      ['chat/completions', { model: OPEN_MODEL, ...said(MATCH) }],
      ['embeddings', { model: 'local/hashing', input: MATCH }],
    ] as const) {
      const response = await app.http
        .post(`/console/playground/${path}?api_key_hash=${key.record.hash}`)
        .set('authorization', `Bearer ${app.managementKey}`)
        .send(body);
      expect([path, response.status, response.text]).toEqual([
        path,
        403,
        expect.stringContaining('content_policy_violation'),
      ]);
    }
    expect(sent()).toEqual([]);
  });

  it('reads the settings of a preset that the wire of the call does not have', async () => {
    await askFor(200, app, 'post', '/presets/stopping/chat/completions', {
      body: { model: OPEN_MODEL, stop: [MATCH], ...said('hi') },
    });
    const body = { model: '@preset/stopping', input: 'hi' };
    expect((await post(await app.createKey(), 'responses', body)).status).toBe(200);
    expect(sent()[0]?.text).toContain(MATCH);
    expect((await post(key, 'responses', body)).status).toBe(403);
    expect(sent()).toHaveLength(1);
  });

  it('reads escaped texts, aliases and variants of models, and each of two members of one name', async () => {
    const escaped = JSON.stringify({ model: `${OPEN_MODEL}:nitro`, ...said(MATCH) }).replace('s', '\\u0073');
    expect((await post(key, 'chat/completions', escaped)).status).toBe(403);
    const twice = `{"model":"${OPEN_MODEL}","messages":[{"role":"user","content":"${MATCH}","content":"hi"}]}`;
    expect((await post(key, 'chat/completions', twice)).status).toBe(400);
    expect((await chat(key, { models: [CLAUDE, OPEN_MODEL], ...said(MATCH) })).status).toBe(403);
    expect(sent()).toEqual([]);
  });

  it('leaves no generation, and its calls count as refused by a guardrail', async () => {
    await chat(key, said(MATCH));
    const rows = await app.sql('SELECT 1 FROM generations WHERE api_key_id = $1', [key.record.id]);
    expect(rows).toEqual([]);
    await recordRefusals(app);
    const refusals = await listRefusals(app, `?api_key_hash=${key.record.hash}`);
    expect(refusals.map(({ reason }) => reason)).toContain('guardrail');
    expect(JSON.stringify(refusals)).not.toContain(MATCH);
  });

  it('lets other calls pass', async () => {
    expect((await chat(key, said('say sesame'))).status).toBe(200);
    expect(sent()).toHaveLength(1);
  });
});

describe('a filter that redacts', () => {
  let key: Key;
  beforeAll(async () => {
    key = await governed(REDACT);
  });

  it('replaces matches in texts, results and arguments of calls, and keeps all other bytes', async () => {
    const messages = [
      { role: 'system', content: `you are ${MAIL}` },
      {
        role: 'user',
        content: [
          { type: 'text', text: `a ${MAIL} b` },
          { type: 'text', text: 'c' },
        ],
      },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'call', type: 'function', function: { name: 'f', arguments: `{"n": 1.0, "to": "${MAIL}"}` } },
        ],
      },
      { role: 'tool', tool_call_id: 'call', content: `<${MAIL}>` },
    ];
    const body = JSON.stringify({ model: OPEN_MODEL, max_tokens: 10, messages, seed: 12 });
    expect((await post(key, 'chat/completions', body)).status).toBe(200);
    const [request] = setup.chat.requests;
    expect(JSON.stringify(request?.body['messages'])).toBe(
      JSON.stringify(messages).replaceAll(MAIL, '[EMAIL]'),
    );
    expect(request?.text).not.toContain('ann@');
  });

  it('replaces escaped matches in every wire', async () => {
    const escaped = (members: Members) => JSON.stringify(members).replaceAll('@', '\\u0040');
    const bodies: [string, Members][] = [
      ['messages', { model: CLAUDE, max_tokens: 9, system: MAIL, ...said(MAIL) }],
      ['messages', { model: OPEN_MODEL, max_tokens: 9, ...said([{ type: 'text', text: MAIL }]) }],
      ['responses', { model: OPEN_MODEL, instructions: MAIL, input: [{ role: 'user', content: MAIL }] }],
    ];
    for (const [path, members] of bodies) {
      expect([path, (await post(key, path, escaped(members))).status]).toEqual([path, 200]);
    }
    expect(sent()).toHaveLength(3);
    for (const { text } of sent()) {
      expect(text).toContain('[EMAIL]');
      expect(text).not.toMatch(/example\.com/);
    }
  });

  it('refuses a match that is too long to be replaced', async () => {
    const refused = await chat(key, said(`${'a'.repeat(20_000)}@example.com`));
    expect(errorOf(refused).metadata).toMatchObject({ filter: 'email', member: 'messages[0].content' });
    expect(sent()).toEqual([]);
  });
});

describe('matches of a call that was made', () => {
  const BOTH = {
    content_filters: [{ pattern: 'sesame-[0-9]+', action: 'flag', label: 'CODE' }],
    ...REDACT,
  };

  it.each<[string, Members]>([
    ['chat/completions', { model: OPEN_MODEL, ...said(`${MATCH} ${MATCH} to ${MAIL}`) }],
    ['responses', { model: OPEN_MODEL, input: `${MATCH} ${MATCH} to ${MAIL}` }],
    ['messages', { model: CLAUDE, max_tokens: 9, ...said(`${MATCH} ${MATCH} to ${MAIL}`) }],
    ['embeddings', { model: 'local/hashing', input: [`${MATCH} ${MATCH} to ${MAIL}`] }],
  ])('are in the record of POST /%s and in its routing metadata', async (path, body) => {
    const { guardrail, secret, record } = await governed(BOTH);
    const response = await fetch(`${app.baseUrl}/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${secret}`,
        'x-openrouter-metadata': 'enabled',
      },
      body: JSON.stringify(body),
    });
    const { openrouter_metadata: metadata } = (await response.json()) as {
      openrouter_metadata: { pipeline: unknown };
    };
    const name = 'Careful';
    const step = { type: 'guardrail', name, guardrail_id: guardrail, guardrail_scope: 'api_key' };
    expect(metadata.pipeline).toEqual([
      { ...step, summary: 'CODE: flag 2', data: { action: 'flag', matches: 2 } },
      { ...step, summary: 'email: redact 1', data: { action: 'redact', matches: 1 } },
    ]);
    const [stored] = await eventually(
      () => app.sql<{ id: string }>('SELECT id FROM generations WHERE api_key_id = $1', [record.id]),
      (rows) => rows.length > 0,
    );
    const { data } = await askFor<{ data: Members }>(200, app, 'get', `/generation?id=${stored?.id}`);
    const hit = { id: guardrail, name, scope: 'api_key' };
    expect(data['guardrails']).toEqual([
      { ...hit, filter: 'CODE', action: 'flag', count: 2 },
      { ...hit, filter: 'email', action: 'redact', count: 1 },
    ]);
  });

  it('are summed by day, with those of refused calls, for the guardrails of a workspace', async () => {
    const key = await governed({
      ...BOTH,
      content_filters: [...BOTH.content_filters, ...BLOCK.content_filters],
    });
    await chat(key, said(MAIL));
    await chat(key, said(MATCH));
    const hits = app.application.get(DailyHits);
    await hits.flush();
    await chat(key, said(MAIL));
    await hits.flush();
    const usage = await askFor<{ data: { guardrail_id: string }[] }>(200, app, 'get', '/guardrails/usage');
    expect(usage.data.find(({ guardrail_id: id }) => id === key.guardrail)).toEqual({
      guardrail_id: key.guardrail,
      key_count: 1,
      member_count: 0,
      hits: [
        { filter: 'email', action: 'redact', count: 2 },
        { filter: 'CODE', action: 'block', count: 1 },
        { filter: 'CODE', action: 'flag', count: 1 },
      ],
    });
  });
});

describe('POST /guardrails/test', () => {
  const tried = (body: Members) => askFor<{ data: Members }>(200, app, 'post', '/guardrails/test', { body });

  it('answers the matches and the text that a model gets, and stores nothing', async () => {
    const { data } = await tried({ ...REDACT, ...BLOCK, text: `a ${MAIL} b` });
    expect(data).toEqual({
      hits: [{ filter: 'email', action: 'redact', start: 2, end: 2 + MAIL.length }],
      hit_count: 1,
      blocked: false,
      sent_text: 'a [EMAIL] b',
    });
  });

  it('says that a call is refused', async () => {
    expect((await tried({ ...BLOCK, text: MATCH })).data).toMatchObject({ blocked: true, sent_text: null });
    const endless = `${'a'.repeat(19_000)}@example.com`;
    expect((await tried({ ...REDACT, text: endless })).data).toMatchObject({
      blocked: true,
      sent_text: null,
    });
  });

  it('refuses patterns that a guardrail refuses', async () => {
    const body = { content_filters: [{ pattern: '(?<=a)b', action: 'block' }], text: 'ab' };
    const { error } = await askFor<{ error: { message: string } }>(400, app, 'post', '/guardrails/test', {
      body,
    });
    expect(error.message).toContain('content_filters[0].pattern');
  });
});

describe('parts that patterns cannot read', () => {
  it('pass, unless the guardrail rejects them', async () => {
    const rejecting = await governed({ reject_unscannable: true });
    const image = said([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]);
    const refused = await chat(rejecting, image);
    expect([refused.status, errorOf(refused).metadata]).toEqual([
      403,
      expect.objectContaining({ filter: 'reject_unscannable', member: 'messages[0].content[0]' }),
    ]);
    expect((await chat(rejecting, said('hi'))).status).toBe(200);
  });
});

describe('the settings of filters', () => {
  it.each<[string, Members, string]>([
    [
      'an invalid pattern',
      { content_filters: [{ pattern: '(', action: 'block' }] },
      'content_filters[0].pattern',
    ],
    [
      'a look-behind',
      { content_filters: [{ pattern: '(?<=a)b', action: 'block' }] },
      'content_filters[0].pattern',
    ],
    ['a match of the empty text', { content_filters: [{ pattern: 'a*', action: 'flag' }] }, 'the empty text'],
    ['an unknown action', { content_filters: [{ pattern: 'a', action: 'drop' }] }, 'action'],
    [
      'a filter that needs a model',
      { content_filter_builtins: [{ slug: 'person-name', action: 'flag' }] },
      'not supported',
    ],
    [
      'too many patterns',
      { content_filters: Array.from({ length: 21 }, () => ({ pattern: 'a', action: 'flag' })) },
      'at most 20',
    ],
  ])('%s is 400, and nothing is stored', async (_name, members, words) => {
    const { error } = await askFor<{ error: { message: string } }>(400, app, 'post', '/guardrails', {
      body: { name: 'Wrong', ...members },
    });
    expect(error.message).toContain(words);
  });

  it('are read as they were sent, with the labels of built-in filters', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
      body: {
        name: 'Whole',
        content_filters: [{ pattern: 'a', action: 'flag' }],
        content_filter_builtins: [
          { slug: 'regex-prompt-injection', action: 'block', scan_scope: 'user_only' },
        ],
      },
    });
    const read = await askFor<{ data: Members }>(200, app, 'get', `/guardrails/${data.id}`);
    expect(read.data).toMatchObject({
      content_filters: [{ pattern: 'a', action: 'flag', label: null }],
      content_filter_builtins: [
        {
          slug: 'regex-prompt-injection',
          action: 'block',
          label: 'PROMPT_INJECTION',
          scan_scope: 'user_only',
        },
      ],
      reject_unscannable: false,
    });
    await askFor(200, app, 'patch', `/guardrails/${data.id}`, { body: { content_filters: null } });
    const after = await askFor<{ data: Members }>(200, app, 'get', `/guardrails/${data.id}`);
    expect(after.data['content_filters']).toBeNull();
  });
});
