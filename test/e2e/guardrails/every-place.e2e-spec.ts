// Content filters read every text that a provider receives: a marker at each place of bodies of every wire.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { isEverything } from '../../support/extent.js';
import { createGovernedKey, postAs } from '../../support/guardrails/governed.js';
import { CLAUDE, OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';

type Members = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

const MATCH = 'sesame 42';

let setup: MessagesApp;
let app: TestApp;
let free: TestKey;
let blocking: TestKey;
beforeAll(async () => {
  setup = await startMessagesApp({
    RATE_LIMIT_CHANGES_PER_MINUTE: '10000',
    RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
  });
  ({ app } = setup);
  free = await app.createKey();
  blocking = await createGovernedKey(app, {
    content_filters: [{ pattern: 'sesame.[0-9]+', action: 'block' }],
  });
});
afterAll(() => setup?.close());

const SCHEMA = {
  type: 'object',
  description: 'd',
  properties: {
    to: { type: 'string', description: 'd', enum: ['e'], format: 'f', title: 't', default: 'x' },
  },
  required: ['to'],
};
const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"to": "x"}' } };
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';
const CHAT: Members = {
  messages: [
    { role: 'system', content: 's', name: 'n' },
    { role: 'developer', content: [{ type: 'text', text: 't', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 't' },
        { type: 'image_url', image_url: { url: IMAGE, detail: 'low' } },
      ],
    },
    { role: 'assistant', content: 'a', tool_calls: [CALL], reasoning: 'r', refusal: 'no' },
    { role: 'tool', tool_call_id: 'call_1', content: 'c' },
    { role: 'user', content: 'u' },
  ],
  tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA } }],
  tool_choice: { type: 'function', function: { name: 'f' } },
  response_format: { type: 'json_schema', json_schema: { name: 'j', description: 'd', schema: SCHEMA } },
  prediction: { type: 'content', content: 'p' },
  stop: ['z'],
  logit_bias: { 5: 1 },
  metadata: { key: 'm' },
  user: 'w',
  prompt_cache_key: 'k',
  chat_template_kwargs: { type: 'x', deep: [{ type: 'y', text: 'v' }] },
};
const MESSAGES: Members = {
  max_tokens: 2_000,
  system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 't' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        {
          type: 'document',
          title: 'd',
          context: 'c',
          source: { type: 'text', media_type: 'text/plain', data: 'x' },
        },
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 'sig-1' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { to: 'x', deep: [{ type: 'y' }] } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'r' }] }],
    },
  ],
  tools: [{ name: 'f', description: 'd', input_schema: SCHEMA }],
  tool_choice: { type: 'tool', name: 'f' },
  stop_sequences: ['z'],
  metadata: { user_id: 'u' },
  output_config: { format: { type: 'json_schema', schema: SCHEMA } },
};
const RESPONSES: Members = {
  instructions: 'i',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 't' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'o', annotations: [] }] },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"to":"x"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'o' },
    { role: 'user', content: 'u' },
  ],
  tools: [{ type: 'function', name: 'f', description: 'd', parameters: SCHEMA, strict: false }],
  tool_choice: { type: 'function', name: 'f' },
  text: { format: { type: 'json_schema', name: 'j', description: 'd', schema: SCHEMA } },
  metadata: { key: 'm' },
  user: 'w',
  safety_identifier: 'i',
};
const NAMES =
  'type id name text content format detail status signature encrypted_content media_type mime_type title data description ' +
  'cache_control reasoning thinking refusal output input url source x_unknown';

/** Bodies with the marker at one place each. */
function* marked(value: unknown, path: Path = []): Generator<readonly [place: string, body: unknown]> {
  if (typeof value === 'string') yield [path.join('.'), MATCH];
  else if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const [place, body] of marked(item, [...path, index])) yield [place, value.with(index, body)];
  else if (typeof value === 'object' && value !== null) {
    yield [`${path.join('.')}{}`, { ...value, [MATCH]: 1 }];
    for (const name of NAMES.split(' '))
      if (!(name in value)) yield [[...path, `+${name}`].join('.'), { ...value, [name]: MATCH }];
    for (const [name, item] of Object.entries(value))
      for (const [place, body] of marked(item, [...path, name])) yield [place, { ...value, [name]: body }];
  }
}

/** Labels of the caller, and data, addresses and stored files of media: no texts. */
const NO_TEXT =
  /^(?:metadata\b|user$|prompt_cache_key$|safety_identifier$)|\.content\.1\.(?:image_url\.|source\.)?\+?(?:data|url|source)$|\.content\.2\.\+(?:data|url)$/;
const EVERY = isEverything ? 1 : 8;

/** Whether a provider receives the marker. */
async function reaches(key: TestKey, path: string, body: unknown): Promise<boolean> {
  setup.chat.requests.length = setup.anthropic.requests.length = 0;
  await postAs(app, key, path, body as Members);
  return [...setup.chat.requests, ...setup.anthropic.requests].some(({ text }) => text.includes(MATCH));
}

it.each<[string, string, Members]>([
  ['chat/completions', OPEN_MODEL, CHAT],
  ['chat/completions', CLAUDE, CHAT],
  ['messages', CLAUDE, MESSAGES],
  ['messages', OPEN_MODEL, { ...MESSAGES, messages: (MESSAGES['messages'] as unknown[]).slice(1) }],
  ['responses', OPEN_MODEL, RESPONSES],
  ['responses', CLAUDE, RESPONSES],
])(
  'every text of POST /%s that a provider of %s receives is read by content filters',
  async (path, model, members) => {
    const passed: string[] = [];
    let received = 0;
    for (const [place, body] of [...marked(members)].filter((_one, index) => index % EVERY === 0)) {
      if (NO_TEXT.test(place)) continue;
      const sent = { ...(body as Members), model };
      if (!(await reaches(free, path, sent))) continue;
      received++;
      if (await reaches(blocking, path, sent)) passed.push(place);
    }
    expect(received).toBeGreaterThan(isEverything ? 100 : 10);
    expect(passed).toEqual([]);
  },
);
