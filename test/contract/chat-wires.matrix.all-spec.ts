// Every member of a chat body at every wire: sent, renamed, altered, dropped with a record, or a reason to pass the endpoint
// over (docs/contract.md#chat-providers).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { ChatEndpoint } from '../../src/domain/chat/chat-model.js';
import { SERVER_MEMBERS } from '../../src/providers/shared/chat/server-members.js';
import {
  builtChat,
  chatEndpoint,
  chatWireOf,
  readBody,
  readText,
} from '../support/chat-providers/send-chat.js';

const WIRES = 'openai azure mistral together deepinfra ollama vllm openai-compatible google cohere'.split(
  ' ',
);
const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };

/** S: sent. D: dropped and recorded. O: omitted, without effect. F: the endpoint is passed over. Else the members sent. */
type Cell = 'S' | 'D' | 'O' | 'F' | Readonly<Record<string, unknown>>;

interface Row {
  readonly members: Readonly<Record<string, unknown>>;
  /** The member of the row. */
  readonly name: string;
  /** In the order of WIRES. */
  readonly cells: readonly Cell[];
}

const row = (name: string, value: unknown, cells: readonly Cell[], others: object = {}): Row => ({
  name,
  members: { ...others, [name]: value },
  cells,
});
const all = (cell: Cell): Cell[] => WIRES.map(() => cell);
const letters = (text: string): Cell[] => [...text.replaceAll(' ', '')] as Cell[];
const limit = (value: number): Cell[] =>
  ['completion_', 'completion_', '', '', '', '', 'completion_', '', 'completion_', ''].map((infix) => ({
    [`max_${infix}tokens`]: value,
  }));
const seed: Cell[] = letters('SSDSSSSSDS');
seed[2] = { random_seed: 7 };
const stopText: Cell[] = letters('SSSOSSSSSO');
stopText[3] = { stop: ['END'] };
stopText[9] = { stop: ['END'] };
const topP: Cell[] = letters('SSSSSSSSSO');
topP[9] = { top_p: 0.99 };
const penalty: Cell[] = letters('SSSSSSSSDO');
penalty[9] = { frequency_penalty: 0 };
const logprobs: Cell[] = letters('SSFOSFSSSF');
logprobs[3] = { logprobs: 3 };

const ROWS: readonly Row[] = [
  row('max_tokens', 50, limit(50)),
  row('max_completion_tokens', 60, limit(60)),
  row('temperature', 0.5, all('S')),
  row('top_p', 1, topP),
  row('frequency_penalty', -0.5, penalty),
  row('presence_penalty', 0.5, letters('SSSSSSSSDS')),
  row('seed', 7, seed),
  row('stop', 'END', stopText),
  row('stop', ['END'], all('S')),
  row('logit_bias', { '5': 1 }, letters('SSDSSDSSDD')),
  row('logprobs', true, logprobs, { top_logprobs: 3 }),
  row('logprobs', false, all('O')),
  row('n', 2, letters('SSSSSFSSFF')),
  row('n', 1, all('O')),
  row('top_k', 40, letters('DDDSSDSSDD')),
  row('top_a', 0.5, letters('DDDDSDSSDD')),
  row('min_p', 0.1, letters('DDDSSDSSDD')),
  row('repetition_penalty', 1.1, letters('DDDSSDSSDD')),
  row('user', 'u-1', letters('SSDDSDSSDD')),
  row('tools', [TOOL], all('S')),
  row('tool_choice', 'auto', letters('SSSSSDSSSS'), { tools: [TOOL] }),
  row('tool_choice', 'none', letters('SSSSSOSSSS'), { tools: [TOOL] }),
  row('tool_choice', 'required', letters('SSSSSFSSSS'), { tools: [TOOL] }),
  row('parallel_tool_calls', false, letters('SSSSSDSSDD'), { tools: [TOOL] }),
  row('response_format', { type: 'json_object' }, all('S')),
  row('verbosity', 'low', letters('SSDSSDSSDD').with(5, 'S')),
  row('metadata', { a: 'b' }, all('O')),
  row('service_tier', 'auto', letters('SSOOSOOOOO')),
  row('service_tier', 'flex', letters('SSFFSFFFFF')),
  row('reasoning_effort', 'low', all('D').with(3, { reasoning: { enabled: true } })),
  // Members of servers that are known to be harmless.
  row('stop_token_ids', [1, 2], letters('DDDDDDSSDD')),
  row('skip_special_tokens', false, letters('DDDDDDSSDD')),
  row('repeat_penalty', 1.1, letters('DDDDDDDSDD')),
  row('mirostat', 2, letters('DDDDDDDSDD')),
  row('no_stop_trim', true, letters('DDDDDDDSDD')),
  // Beyond numbers, flags and short lists the server might read a text.
  row('stop_token_ids', 'x'.repeat(5_000), all('D')),
  // Unknown, and known to change the server, to defeat a bound, or to read another's data.
  ...(
    'x_unknown priority Priority chat_template cache_salt ignore_eos min_tokens guided_json keep_alive n_predict id_slot ' +
    'lora_path session_params bootstrap_host custom_logit_processor api_base fallbacks regex repeat_last_n ' +
    'dry_penalty_last_n samplers grammar input_ids rid request_id _debug_render_only Stop_Token_Ids constructor __proto__'
  )
    .split(' ')
    .map((name) => row(name, 1, all('D'))),
];

const CASES = ROWS.flatMap(({ name, members, cells }) =>
  WIRES.map(
    (slug, index) =>
      [`${name} ${JSON.stringify(members[name])}`, slug, name, members, cells[index] ?? 'S'] as const,
  ),
);

it.each(CASES)('%s at %s', async (_title, slug, name, members, cell) => {
  const endpoint = chatEndpoint(slug);
  const request = readBody(members);
  const problems = chatWireOf(slug).problems(request, endpoint);
  const hard = problems.filter(({ isHard }) => isHard).map(({ at }) => at);
  if (cell === 'F') {
    expect(hard).toEqual([name]);
    await expect(builtChat(slug, members, endpoint)).rejects.toThrow(name);
    return;
  }
  expect(hard).toEqual([]);
  const { body, edits } = await builtChat(slug, members, endpoint);
  const recorded = name === 'reasoning_effort' ? 'reasoning' : name;
  if (cell === 'S') expect(body[name]).toEqual(members[name]);
  else if (typeof cell === 'object') expect(body).toMatchObject(cell);
  else expect(Object.keys(body)).not.toContain(name);
  if (cell === 'D') {
    expect(edits).toEqual([recorded]);
    expect(problems.map(({ at }) => at)).toEqual([recorded]);
  } else if (cell === 'S' || cell === 'O') expect(edits).not.toContain(recorded);
});

describe('a wire without tool_choice', () => {
  const members = { tools: [TOOL], tool_choice: 'none', parallel_tool_calls: true };

  it('honours none without the tools, and records nothing', async () => {
    const { body, edits } = await builtChat('ollama', members);
    for (const name of Object.keys(members)) expect(body).not.toHaveProperty(name);
    expect(edits).toEqual([]);
    expect(chatWireOf('ollama').problems(readBody(members), chatEndpoint('ollama'))).toEqual([]);
  });

  it('sends the tools where the operator lists the member', async () => {
    const endpoint = chatEndpoint('ollama', { allowedMembers: ['tool_choice'] });
    const { body } = await builtChat('ollama', members, endpoint);
    expect(body).toMatchObject({ tools: [TOOL], tool_choice: 'none' });
  });
});

describe('a reasoning model of OpenAI', () => {
  const endpoint = chatEndpoint('openai', {
    isReasoning: true,
    reasoningEfforts: ['minimal', 'low', 'high'],
  });

  it('gets no sampling members but a temperature of 1', async () => {
    const { body, edits } = await builtChat(
      'openai',
      {
        temperature: 0.2,
        top_p: 1,
        stop: 'x',
        frequency_penalty: 1,
        presence_penalty: 1,
        logit_bias: { '5': 1 },
      },
      endpoint,
    );
    expect(edits).toEqual(['temperature', 'stop', 'frequency_penalty', 'presence_penalty', 'logit_bias']);
    expect(body).toHaveProperty('top_p', 1);
    expect(chatWireOf('openai').problems(readBody({ logprobs: true }), endpoint)[0]).toMatchObject({
      at: 'logprobs',
      isHard: true,
    });
  });

  it.each([
    [['tools', 'parallel_tool_calls'], {}, false, []],
    [['tools'], {}, undefined, ['parallel_tool_calls']],
    [['tools'], { isReasoning: false }, false, []],
  ])('with %j gets parallel_tool_calls only where it lists them: %j', async (listed, kind, sent, edits) => {
    const built = await builtChat(
      'openai',
      { tools: [TOOL], parallel_tool_calls: false },
      { ...endpoint, ...kind, supportedParameters: listed },
    );
    expect(built.body['parallel_tool_calls']).toBe(sent);
    expect(built.edits).toEqual(edits);
  });

  it.each([
    [{ reasoning_effort: 'max' }, 'high'],
    [{ reasoning_effort: 'medium' }, 'low'],
    [{ reasoning_effort: 'minimal' }, 'minimal'],
    [{ reasoning: { enabled: true } }, 'low'],
    [{ reasoning: { max_tokens: 800 }, max_tokens: 1_000 }, 'high'],
    [{ reasoning: { max_tokens: 200 }, max_tokens: 1_000 }, 'low'],
    [{ reasoning: { max_tokens: 199 }, max_tokens: 1_000 }, 'minimal'],
    [{ reasoning: { exclude: true } }, undefined],
  ])('maps %j to the effort %s', async (members, effort) => {
    const { body } = await builtChat('openai', members, endpoint);
    expect(body['reasoning_effort']).toBe(effort);
    expect(body).not.toHaveProperty('reasoning');
  });

  it.each([
    [{}, 'none', []],
    [{ reasoning_effort: 'none' }, 'none', []],
    [{ reasoning_effort: 'high' }, 'none', ['reasoning']],
  ])(
    'gets the effort none beside tools where it takes them only without reasoning: %j',
    async (members, effort, edits) => {
      const withoutReasoning = {
        ...endpoint,
        reasoningEfforts: ['none', 'low', 'high'],
        supportedParameters: ['tools', 'reasoning_effort'],
        toolsOnlyWithoutReasoning: true,
      };
      const built = await builtChat('openai', { ...members, tools: [TOOL] }, withoutReasoning);
      expect(built.body['reasoning_effort']).toBe(effort);
      expect(built.edits).toEqual(edits);
      const problems = chatWireOf('openai').problems(
        readBody({ ...members, tools: [TOOL] }),
        withoutReasoning,
      );
      expect(problems.map(({ at }) => at)).toEqual(edits);
      const { body } = await builtChat('openai', { reasoning_effort: 'high' }, withoutReasoning);
      expect(body['reasoning_effort']).toBe('high');
    },
  );

  it('drops none where it cannot be switched off', async () => {
    const { body, edits } = await builtChat('openai', { reasoning_effort: 'none' }, endpoint);
    expect(body).not.toHaveProperty('reasoning_effort');
    expect(edits).toEqual(['reasoning']);
  });
});

describe('the bytes of untouched members', () => {
  it.each(WIRES)('are the caller’s at %s', async (slug) => {
    const messages = '[{"role":"assistant","content":null},{"role":"user","content":"\\u00e9"}]';
    const parameters = '{"type":"object","properties":{"a":{"default":null,"minimum":1.0}}}';
    const tools = `[{"type":"function","function":{"name":"look_up","parameters":${parameters}}}]`;
    const text = `{"model":"a/b","messages":${messages},"tools":${tools},"temperature":1.0}`;
    const request = readText(text);
    const built = await chatWireOf(slug).buildRequest(
      { request, endpoint: chatEndpoint(slug), maxOutputTokens: null },
      { baseUrl: 'http://127.0.0.1:1/v1' },
    );
    const sent = Buffer.concat(built.body).toString();
    expect(sent).toContain(`"messages":${messages},"tools":${tools}`);
    expect(sent).toContain('"temperature":1.0');
  });

  it('keep a seed beyond a double, renamed as well', async () => {
    const text = '{"model":"a/b","messages":[{"role":"user","content":"x"}],"seed":9007199254740993}';
    const request = readText(text);
    const built = await chatWireOf('mistral').buildRequest(
      { request, endpoint: chatEndpoint('mistral'), maxOutputTokens: null },
      { baseUrl: 'http://127.0.0.1:1/v1' },
    );
    expect(Buffer.concat(built.body).toString()).toContain('"random_seed":9007199254740993');
  });
});

describe('settings of an endpoint', () => {
  it('choose the limit, the usage and further members of a compatible server', async () => {
    const endpoint = chatEndpoint('openai-compatible', {
      wire: { outputLimit: 'max_completion_tokens', streamUsage: 'none' },
      allowedMembers: ['min_tokens'],
    });
    const members = { stream: true, max_tokens: 5, x_unknown: 1, min_tokens: 2 };
    const { body, edits } = await builtChat('openai-compatible', members, endpoint);
    expect(body).toMatchObject({ max_completion_tokens: 5, stream: true, min_tokens: 2 });
    expect(body).not.toHaveProperty('stream_options');
    expect(edits).toEqual(['x_unknown']);
  });
});

describe('unknown members inside messages and tools', () => {
  const PNG = 'data:image/png;base64,AAAA';
  const UNKNOWN = {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'x', uuid: 'a' }], x_message: 1, Content: 'other' },
      {
        role: 'user',
        content: [
          { type: 'image_url', uuid: 'a', image_url: { url: PNG, max_dynamic_patch: 9, uuid: null } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'abcDEF123',
            type: 'function',
            index: 0,
            function: { name: 'f', arguments: '{}', parsed: {} },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'abcDEF123', content: '1' },
    ],
    tools: [{ type: 'function', defer_loading: true, function: { name: 'f', defer_loading: true } }],
    tool_choice: { type: 'function', function: { name: 'f', x: 1 }, x: 1 },
  };
  const EDITS = [
    'messages.x_message',
    'messages.Content',
    'messages.content.uuid',
    'messages.content.image_url.max_dynamic_patch',
    'messages.tool_calls.index',
    'messages.tool_calls.function.parsed',
    'tools.defer_loading',
    'tools.function.defer_loading',
  ];

  it.each(WIRES.filter((slug) => slug !== 'ollama'))('reach no server and are recorded: %s', async (slug) => {
    const { text, body, edits } = await builtChat(slug, UNKNOWN);
    expect(edits.filter((path) => path.includes('.')).toSorted()).toEqual(EDITS.toSorted());
    expect(text).not.toMatch(/uuid|x_message|"Content"|max_dynamic_patch|"index"|parsed|defer_loading/);
    expect(body['tool_choice']).toEqual({ type: 'function', function: { name: 'f' } });
  });

  it('are sent where the endpoint allows them, by the names of the record', async () => {
    const { edits, text } = await builtChat(
      'vllm',
      UNKNOWN,
      chatEndpoint('vllm', { allowedMembers: EDITS.slice(2) }),
    );
    expect(edits).toEqual(EDITS.slice(0, 2));
    expect(text).toContain('"max_dynamic_patch":9');
  });
});

describe('earlier reasoning (inspect_ai #4079, LibreChat PR 13368, kilocode #9501)', () => {
  const DETAILS = [
    { type: 'reasoning.text', text: 'hm' },
    { type: 'reasoning.encrypted', data: 'x' },
  ];
  const DROPPED = ['messages.reasoning_details'];
  const sent = async (slug: string, members: object, overrides: Partial<ChatEndpoint> = {}) => {
    const messages = [{ role: 'assistant', content: 'Hi', ...members }];
    const { body, edits } = await builtChat(slug, { messages }, chatEndpoint(slug, overrides));
    const [message] = body['messages'] as object[];
    return [message, edits];
  };
  const COMPATIBLE = ['openai-compatible', 'reasoning_content'] as const;
  const VLLM = ['vllm', 'reasoning'] as const;

  describe.each([COMPATIBLE, VLLM, ['ollama', 'reasoning'], ['deepinfra', 'reasoning_content']])(
    'at %s',
    (slug, name) => {
      it.each([
        [{ reasoning: 'hm' }, []],
        [{ reasoning_content: 'hm' }, []],
        [{ reasoning: 'hm', reasoning_content: 'hm' }, []],
        [{ reasoning: null, reasoning_content: 'hm' }, []],
        [{ reasoning: 'hm', reasoning_details: DETAILS }, DROPPED],
        [{ reasoning_details: DETAILS }, DROPPED],
      ])('%j reaches the server under its own name', async (members, edits) => {
        expect(await sent(slug, members)).toEqual([
          { role: 'assistant', content: 'Hi', [name]: 'hm' },
          edits,
        ]);
      });
    },
  );

  it('of two different texts the server gets the one under its own name', async () => {
    const members = { reasoning: 'one', reasoning_content: 'other' };
    const kept = { role: 'assistant', content: 'Hi', reasoning: 'one' };
    expect(await sent('vllm', members)).toEqual([kept, ['messages.reasoning_content']]);
  });

  it('is sent under the name that the catalogue states, with details where it allows them', async () => {
    const overrides: Partial<ChatEndpoint> = {
      wire: { reasoningMember: 'reasoning' },
      allowedMembers: DROPPED,
    };
    const members = { reasoning: 'hm', reasoning_details: DETAILS };
    expect(await sent('openai-compatible', members, overrides)).toEqual([
      { role: 'assistant', content: 'Hi', ...members },
      [],
    ]);
  });

  it('is not sent where the provider refuses it', async () => {
    expect(await sent('google', { reasoning_content: 'hm' })).toEqual([
      { role: 'assistant', content: 'Hi' },
      ['messages.reasoning_content'],
    ]);
  });
});

describe('a refusal in an assistant’s message', () => {
  const part = { type: 'refusal', refusal: 'I cannot.' };
  const messages = [
    { role: 'assistant', content: [part] },
    { role: 'assistant', content: null, refusal: 'I cannot.' },
  ];

  it.each(WIRES)('reaches %s, as a text where that knows no refusals', async (slug) => {
    const { body, edits } = await builtChat(slug, {
      messages: [...messages, { role: 'user', content: 'x' }],
    });
    const texts = [
      { role: 'assistant', content: [{ type: 'text', text: 'I cannot.' }] },
      { role: 'assistant', content: 'I cannot.' },
    ];
    const isKnown = ['openai', 'azure'].includes(slug);
    expect((body['messages'] as object[]).slice(0, 2)).toEqual(isKnown ? messages : texts);
    expect(edits).toEqual([]);
  });
});

it('the contract names every member of a server that is sent', () => {
  const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');
  for (const names of Object.values(SERVER_MEMBERS))
    expect(contract.replaceAll(/\s+/g, ' ')).toContain(names.map((name) => `\`${name}\``).join(', '));
});

describe('media', () => {
  const image = (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });

  it.each(WIRES)('by address at %s', (slug) => {
    const problems = chatWireOf(slug).problems(
      readBody(image('https://images.example/a.png')),
      chatEndpoint(slug),
    );
    const isSent = ['openai', 'azure', 'mistral', 'together', 'cohere'].includes(slug);
    expect(problems.map(({ at }) => at)).toEqual(isSent ? [] : ['messages[0].content[0]']);
  });

  const file = (url: string) => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'letter.pdf', file_data: url } }],
      },
    ],
  });

  it.each(WIRES)('a PDF inline at %s, in the caller’s bytes', async (slug) => {
    const members = file('data:application/pdf;base64,AAAA');
    const { body } = await builtChat(slug, members);
    expect(body['messages']).toEqual(members.messages);
  });

  it.each([
    ['openai', 'https://files.example/a.pdf'],
    ['openai', 'data:text/plain;base64,AAAA'],
    ['azure', 'data:text/plain;base64,AAAA'],
  ])('no other file at %s: %s', (slug, url) => {
    expect(chatWireOf(slug).problems(readBody(file(url)), chatEndpoint(slug))).toMatchObject([
      {
        at: 'messages[0].content[0]',
        rule: expect.stringContaining('must be the data of a PDF'),
        isHard: true,
      },
    ]);
  });

  it.each(WIRES)('inline at %s, and not where the endpoint takes none', (slug) => {
    const request = readBody(image('data:image/png;base64,AAAA'));
    const { problems } = chatWireOf(slug);
    expect(problems(request, chatEndpoint(slug))).toEqual([]);
    expect(problems(request, chatEndpoint(slug, { inputModalities: ['text'] }))[0]).toMatchObject({
      at: 'messages[0].content[0]',
      isHard: true,
    });
  });
});
