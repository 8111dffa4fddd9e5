// How a chat body is read: every rule of docs/contract.md#chat-request by its refusal or its effect.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  CHAT_BASE,
  chatProblem,
  chatProblemOf,
  readChat,
  readChatText,
} from '../../../test/support/chat/read-chat.js';
import type { ReadChat } from './read-chat-request.js';

const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };

const textOf = ({ request }: ReadChat, name: string): string | undefined =>
  request.members.get(name)?.toString();

describe('the members of a chat body', () => {
  it('need a model or a list of models', () => {
    expect(chatProblem({ model: undefined })).toBe('model: is required');
    expect(chatProblem({ model: null })).toBe('model: is required');
    expect(readChat({ model: undefined, models: ['a/b'] }).request.models).toEqual(['a/b']);
    expect(readChat({ models: ['a/b', CHAT_BASE.model, 'a/b'] }).request.models).toEqual([
      CHAT_BASE.model,
      'a/b',
    ]);
    expect(chatProblem({ models: Array.from({ length: 9 }, (_, index) => `a/${index}`) })).toContain(
      'models: must',
    );
    expect(chatProblem({ models: ['a/b', 'no model'] })).toBe('models[1]: must have the form vendor/model');
  });

  it('keep their bytes, so that numbers beyond a double keep their digits', () => {
    const seed = '12345678901234567890123';
    const text = `{"model":"a/b", "messages":[{"role":"user","content":"\\u00e9"}],"x_seed": ${seed} ,"top_p":1.0}`;
    const { request } = readChatText(text);
    expect(request.members.get('x_seed')?.toString()).toBe(seed);
    expect(request.members.get('top_p')?.toString()).toBe('1.0');
    expect(request.members.get('messages')?.toString()).toBe('[{"role":"user","content":"\\u00e9"}]');
  });

  it('are rejected when repeated, in any spelling of the name', () => {
    const repeated = '{"model":"a/b","mod\\u0065l":"c/d","messages":[]}';
    expect(chatProblemOf(() => readChatText(repeated))).toBe('model: must not be repeated');
  });

  it('are rejected when an unknown name equals a known one but for its case', () => {
    for (const name of ['Max_Tokens', 'MODEL', 'Messages', 'meſſages', 'Functions'])
      expect(chatProblem({ [name]: 1 })).toMatch(/: is spelt (max_tokens|model|messages|functions)$/);
    expect(chatProblem({ toKens_: 1 })).toBe('accepted');
  });

  it('are absent when null, and not forwarded', () => {
    const chat = readChat({ temperature: null, unknown: null, stream: null, n: null, stop: null });
    expect([...chat.request.members.keys()]).toEqual(['messages']);
    expect(chat.request).toMatchObject({ isStreamed: false, choiceCount: 1, maxOutputTokens: null });
  });

  it('are forwarded when they are unknown, and kept back when the router reads them', () => {
    const chat = readChat({
      stream: true,
      stream_options: { include_usage: true },
      usage: { include: true },
      session_id: 's',
      trace: { trace_id: 't' },
      metadata: { team: 'a' },
      provider: { order: ['openai'] },
      models: ['a/b'],
      reasoning: { effort: 'low' },
      max_tokens: 5,
      plugins: [{ id: 'web', enabled: false }],
      transforms: [],
      store: false,
      top_secret: [1],
      user: 'u',
    });
    expect([...chat.request.members.keys()]).toEqual(['messages', 'top_secret', 'user']);
    expect(chat.request).toMatchObject({
      isStreamed: true,
      includesUsageChunk: true,
      sessionId: 's',
      user: 'u',
      metadata: { team: 'a' },
      trace: { trace_id: 't', metadata: { team: 'a' } },
    });
    expect(chat.preferences.order).toEqual(['openai']);
  });

  it('have bounds', () => {
    const wrong: Record<string, unknown> = {
      temperature: 2.1,
      top_p: 1.1,
      top_k: -1,
      top_a: -0.1,
      min_p: 2,
      frequency_penalty: -2.1,
      presence_penalty: 3,
      repetition_penalty: -1,
      seed: 1.5,
      stop: ['a', 'b', 'c', 'd', 'e'],
      logit_bias: { 5: 101 },
      top_logprobs: 21,
      n: 9,
      max_tokens: 0,
      max_completion_tokens: 1.5,
      reasoning_effort: 'extreme',
      reasoning: { max_tokens: 0 },
      verbosity: 'loud',
      prediction: { type: 'text' },
      service_tier: 'gold',
      user: 'u'.repeat(257),
      session_id: 's'.repeat(257),
      metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])),
      cache_control: { type: 'ephemeral', ttl: '2h' },
      stream: 'yes',
      parallel_tool_calls: 1,
      structured_outputs: 1,
      modalities: ['audio'],
      provider: { unknown: 1 },
    };
    for (const [name, value] of Object.entries(wrong)) expect(chatProblem({ [name]: value })).toMatch(name);
    expect(chatProblem({ top_logprobs: 2 })).toBe('top_logprobs: needs logprobs: true');
  });

  it('are refused by name where they have fees, effects or costs without a bound', () => {
    const refused: Record<string, unknown> = {
      functions: [],
      function_call: 'auto',
      image_config: {},
      audio: {},
      web_search_options: {},
      stop_server_tools_when: {},
      debug: { echo_upstream_body: true },
      moderation: {},
      safety_identifier: 'x',
      background: true,
      store: true,
      echo: true,
      best_of: 2,
      prompt: 'x',
      plugins: [{ id: 'web' }],
      transforms: ['middle-out'],
    };
    for (const [name, value] of Object.entries(refused)) {
      expect(chatProblem({ [name]: value })).toMatch(new RegExp(`^${name}: `));
      expect(chatProblem({ [name]: null })).toBe('accepted');
    }
  });

  it('limit the output by the smaller number', () => {
    expect(readChat({ max_tokens: 20, max_completion_tokens: 10 }).request.maxOutputTokens).toBe(10);
    expect(readChat({ max_tokens: 1e9 }).request.maxOutputTokens).toBe(1e9);
  });

  it('drop n = 1', () => {
    expect(textOf(readChat({ n: 1 }), 'n')).toBeUndefined();
    expect(textOf(readChat({ n: 2 }), 'n')).toBe('2');
  });

  it('spell the service tier as its price does', () => {
    const chat = readChat({ service_tier: 'fast' });
    expect([chat.request.serviceTier, textOf(chat, 'service_tier')]).toEqual(['priority', '"priority"']);
  });

  it('find the longest life of a cache entry anywhere', () => {
    const part = (ttl?: string) => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } });
    const withPart = (ttl?: string) => readChat({ messages: [{ role: 'user', content: [part(ttl)] }] });
    expect(readChat().request.cacheWriteTtl).toBeNull();
    expect(withPart().request.cacheWriteTtl).toBe('5m');
    expect(withPart('1h').request.cacheWriteTtl).toBe('1h');
    expect(readChat({ prompt_cache_retention: '24h' }).request.cacheWriteTtl).toBe('1h');
    expect(
      readChat({ tools: [{ ...TOOL, cache_control: { type: 'ephemeral', ttl: '1h' } }] }).request
        .cacheWriteTtl,
    ).toBe('1h');
  });

  it('nest at most 128 levels', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    expect(chatProblem({ x: nested(127) })).toBe('accepted');
    for (const levels of [140, 200, 2_000])
      expect(chatProblem({ x: nested(levels) })).toMatch(/^x: is nested too deeply/);
  });

  it('are never read as another request than their bytes show', () => {
    const names = fc.constantFrom('temperature', 'top_p', 'x', 'Seed', 'stop', 'a.b', '__proto__');
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue({ maxDepth: 2 })), (members) => {
        const text = JSON.stringify({ ...CHAT_BASE, ...members });
        const result = chatProblemOf(() => readChatText(text));
        if (result !== 'accepted') return;
        const values = JSON.parse(text) as Record<string, unknown>;
        for (const [name, bytes] of readChatText(text).request.members)
          expect(JSON.parse(bytes.toString())).toEqual(values[name]);
      }),
    );
  });
});

describe('reasoning', () => {
  const reasoning = (members: object) => readChat(members).request.reasoning;

  it('is one setting, whichever way it is asked for', () => {
    expect(reasoning({})).toBeNull();
    const effort = { effort: 'high', maxTokens: null, isExcluded: false, isEnabled: false };
    expect(reasoning({ reasoning_effort: 'high' })).toEqual(effort);
    expect(reasoning({ reasoning: { effort: 'high' } })).toEqual(effort);
    expect(reasoning({ reasoning: { effort: 'high' }, reasoning_effort: 'high' })).toEqual(effort);
    expect(reasoning({ include_reasoning: true })).toEqual({ ...effort, effort: null });
    expect(reasoning({ reasoning: { enabled: true } })).toMatchObject({ effort: null, isEnabled: true });
    expect(reasoning({ reasoning: { enabled: false } })).toMatchObject({ effort: 'none', isEnabled: false });
    expect(reasoning({ include_reasoning: false })).toMatchObject({ isExcluded: true });
    expect(reasoning({ reasoning: { max_tokens: 100, exclude: true } })).toMatchObject({
      maxTokens: 100,
      isExcluded: true,
    });
  });

  it('is rejected with two different efforts', () => {
    expect(chatProblem({ reasoning: { effort: 'high' }, reasoning_effort: 'low' })).toContain(
      'reasoning_effort',
    );
  });
});

describe('tools', () => {
  it('are functions', () => {
    expect(readChat({ tools: [TOOL] }).request.tools[0]?.name).toBe('look_up');
    expect(chatProblem({ tools: [{ type: 'openrouter:web_search' }] })).toMatch(/^tools\[0\]\.type: /);
    expect(chatProblem({ tools: [TOOL, { type: 'function', function: { name: 'a b' } }] })).toMatch(
      /^tools\[1\]\.function\.name: /,
    );
    expect(chatProblem({ tools: {} })).toBe('tools: must be an array');
  });

  it('are removed with their settings when there are none', () => {
    const chat = readChat({ tools: [], tool_choice: 'auto', parallel_tool_calls: true });
    expect(chat.request.toolChoice).toBeNull();
    expect([...chat.request.members.keys()]).toEqual(['messages']);
  });

  it.each([{}, { tools: [] }])('%j leave a choice without effect, but not without a check', (none) => {
    const named = { type: 'function', function: { name: 'x' } };
    for (const choice of ['none', 'auto', 'required', 'any', named]) {
      const { request } = readChat({ ...none, tool_choice: choice });
      expect([request.toolChoice, ...request.members.keys()]).toEqual([null, 'messages']);
    }
    for (const choice of ['always', '', 1, true, [], {}, { type: 'server' }, { type: 'function' }])
      expect(chatProblem({ ...none, tool_choice: choice })).toMatch(/^tool_choice: must be none, auto, /);
  });

  it('are chosen by mode or by name', () => {
    const choice = (value: unknown) => readChat({ tools: [TOOL], tool_choice: value });
    expect(choice('any').request.toolChoice).toEqual({ mode: 'required' });
    expect(textOf(choice('any'), 'tool_choice')).toBe('"required"');
    const named = { type: 'function', function: { name: 'look_up' } };
    expect(choice(named).request.toolChoice).toEqual({ functionName: 'look_up' });
    expect(chatProblem({ tools: [TOOL], tool_choice: 'constructor' })).toMatch(/^tool_choice: /);
    expect(
      chatProblem({ tools: [TOOL], tool_choice: { type: 'function', function: { name: 'x' } } }),
    ).toMatch(/^tool_choice\.function\.name: /);
  });
});

describe('response_format', () => {
  it('has a known type, and a name with a schema', () => {
    const schema = { name: 'answer', schema: { type: 'object' } };
    expect(readChat({ response_format: { type: 'json_schema', json_schema: schema } }).request).toMatchObject(
      {
        responseFormat: 'json_schema',
        responseSchema: schema,
      },
    );
    expect(chatProblem({ response_format: { type: 'xml' } })).toMatch(/^response_format\.type: /);
    expect(chatProblem({ response_format: { type: 'json_schema', json_schema: { name: 'a b' } } })).toMatch(
      /^response_format\.json_schema\.name: /,
    );
  });
});
