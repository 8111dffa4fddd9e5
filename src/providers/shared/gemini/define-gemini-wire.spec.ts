// Requests in Gemini's wire; every body is checked by Google's rules (test/support/gemini/gemini-checks.ts).
import { describe, expect, it } from '@jest/globals';
import {
  builtGemini,
  GEMINI_25,
  geminiEndpoint,
  geminiWire,
} from '../../../../test/support/gemini/built-gemini.js';
import { readBody } from '../../../../test/support/chat-providers/send-chat.js';

const tool = (name: string, more: object = {}): object => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...more },
});

describe('tools', () => {
  it('have JSON Schemas with their references inlined', async () => {
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $defs: { id: { type: 'string', pattern: '^a' } },
      properties: { id: { anyOf: [{ $ref: '#/$defs/id' }, { type: 'null' }] } },
      additionalProperties: false,
    };
    const tools = [
      tool('one', { description: 'Looks.', parameters, strict: true }),
      { type: 'function', function: { name: 'two' } },
    ];
    const built = await builtGemini({ tools });
    expect(built.body['tools']).toEqual([
      {
        functionDeclarations: [
          {
            name: 'one',
            description: 'Looks.',
            parametersJsonSchema: {
              type: 'object',
              $defs: parameters.$defs,
              properties: { id: { anyOf: [{ type: 'string', pattern: '^a' }, { type: 'null' }] } },
              additionalProperties: false,
            },
          },
          { name: 'two', parametersJsonSchema: { type: 'object', properties: {} } },
        ],
      },
    ]);
    expect(built.edits).toEqual(['tools.function.strict']);
  });

  it.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'one' } },
      { mode: 'ANY', allowedFunctionNames: ['one'] },
    ],
  ])('are chosen by %j with %j', async (choice, functionCallingConfig) => {
    const { body } = await builtGemini({ tools: [tool('one')], tool_choice: choice });
    expect(body['toolConfig']).toEqual({ functionCallingConfig });
  });

  it('may always be called in parallel', async () => {
    const { body, edits } = await builtGemini({ tools: [tool('one')], parallel_tool_calls: false });
    expect([body['toolConfig'], edits]).toEqual([undefined, ['parallel_tool_calls']]);
  });
});

describe('settings', () => {
  it('have their own names in the configuration, and their own digits', async () => {
    const built = await builtGemini({
      temperature: 0.25,
      top_p: 0.5,
      top_k: 40,
      seed: 7,
      stop: 'END',
      max_tokens: 100,
      user: 'u-1',
      frequency_penalty: 0.5,
      cache_control: { type: 'ephemeral' },
    });
    expect(built.body['generationConfig']).toEqual({
      temperature: 0.25,
      topP: 0.5,
      topK: 40,
      seed: 7,
      stopSequences: ['END'],
      maxOutputTokens: 100,
    });
    expect([...built.edits].toSorted()).toEqual(['frequency_penalty', 'user']);
  });

  it.each([
    [{ type: 'json_object' }, { responseMimeType: 'application/json' }],
    [
      { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', $schema: 'x' } } },
      { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    ],
  ])('ask for the format %j', async (format, expected) => {
    const { body } = await builtGemini({ response_format: format });
    expect(body['generationConfig']).toEqual(expected);
  });

  it('are absent where the caller has none', async () => {
    expect((await builtGemini({})).body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    });
  });

  it.each([{ n: 2 }, { logprobs: true }])('exclude the wire: %j', async (members) => {
    await expect(builtGemini(members)).rejects.toThrow(Object.keys(members)[0]);
  });
});

describe('reasoning', () => {
  const shown = { includeThoughts: true };
  const configOf = async (reasoning: object, endpoint: object, more: object = {}) => {
    const { body, edits } = await builtGemini({ reasoning, ...more }, endpoint);
    return {
      config: (body['generationConfig'] as { thinkingConfig?: object } | undefined)?.thinkingConfig,
      edits,
    };
  };

  it.each([
    [{ effort: 'minimal' }, { ...shown, thinkingLevel: 'MINIMAL' }, []],
    [{ effort: 'high' }, { ...shown, thinkingLevel: 'HIGH' }, []],
    [{ effort: 'xhigh' }, { ...shown, thinkingLevel: 'HIGH' }, []],
    [{ effort: 'low', exclude: true }, { thinkingLevel: 'LOW' }, []],
    [{ max_tokens: 500 }, { ...shown, thinkingLevel: 'MEDIUM' }, []],
    [{ enabled: true }, shown, []],
    [{ effort: 'none' }, { thinkingLevel: 'MINIMAL' }, ['reasoning']],
  ])('of Gemini 3 has a level: %j becomes %j', async (reasoning, config, edits) => {
    expect(await configOf(reasoning, {}, { max_tokens: 1_000 })).toEqual({ config, edits });
  });

  it('without an effort that is listed takes the lowest one', async () => {
    expect(await configOf({ effort: 'none' }, { reasoningEfforts: ['low', 'high'] })).toEqual({
      config: { thinkingLevel: 'LOW' },
      edits: ['reasoning'],
    });
  });

  const efforts = ['none', 'low', 'medium', 'high'];
  it.each([
    ['gemini-2.5-flash', efforts, { effort: 'medium' }, { ...shown, thinkingBudget: 12_288 }, []],
    ['gemini-2.5-flash', efforts, { effort: 'none' }, { thinkingBudget: 0 }, []],
    ['gemini-2.5-flash-lite', efforts, { max_tokens: 100 }, { ...shown, thinkingBudget: 512 }, []],
    ['gemini-2.5-pro', ['low', 'high'], { effort: 'high' }, { ...shown, thinkingBudget: 26_214 }, []],
    ['gemini-2.5-pro', ['low', 'high'], { max_tokens: 90_000 }, { ...shown, thinkingBudget: 32_768 }, []],
    ['gemini-2.5-pro', ['low', 'high'], { effort: 'none' }, { thinkingBudget: 128 }, ['reasoning']],
  ])('of %s has a budget: %j, %j', async (upstreamModel, reasoningEfforts, reasoning, config, edits) => {
    expect(await configOf(reasoning, { upstreamModel, reasoningEfforts })).toEqual({ config, edits });
  });

  it('is dropped, and recorded, where the model does not reason', async () => {
    const endpoint = { upstreamModel: GEMINI_25, isReasoning: false, reasoningEfforts: [] };
    expect(await configOf({ effort: 'high' }, endpoint)).toEqual({ config: undefined, edits: ['reasoning'] });
  });

  it('without a setting is the default of the model', async () => {
    expect((await builtGemini({})).body).not.toHaveProperty('generationConfig');
  });
});

describe('an address', () => {
  it.each([
    [{ stream: true }, 'http://127.0.0.1:1/v1beta/models/gemini-3-stub:streamGenerateContent?alt=sse'],
    [{}, 'http://127.0.0.1:1/v1beta/models/gemini-3-stub:generateContent'],
  ])('of %j is %s, with the key in a header', async (members, url) => {
    const built = await builtGemini(members);
    expect([built.url, built.headers['x-goog-api-key']]).toEqual([url, 'key']);
  });

  it("keeps an operator's own query", () => {
    const request = readBody({ stream: true });
    const toCall = { request, endpoint: geminiEndpoint(), maxOutputTokens: null };
    expect(geminiWire().buildRequest(toCall, { baseUrl: 'http://proxy/v1beta?team=a' })).toMatchObject({
      url: 'http://proxy/v1beta/models/gemini-3-stub:streamGenerateContent?team=a&alt=sse',
    });
  });
});

describe('a count of tokens', () => {
  it('is asked for the prompt alone, as a request of its model', async () => {
    const request = readBody({ tools: [tool('one')], temperature: 0.5, max_tokens: 10 });
    const built = await geminiWire().counter?.buildRequest(
      { request, endpoint: geminiEndpoint(), maxOutputTokens: null },
      { baseUrl: 'http://127.0.0.1:1/v1beta', apiKey: 'key' },
    );
    expect(built?.url).toBe('http://127.0.0.1:1/v1beta/models/gemini-3-stub:countTokens');
    expect(JSON.parse(Buffer.concat([...(built?.body ?? [])]).toString())).toEqual({
      generateContentRequest: {
        model: 'models/gemini-3-stub',
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        tools: [
          {
            functionDeclarations: [{ name: 'one', parametersJsonSchema: { type: 'object', properties: {} } }],
          },
        ],
      },
    });
  });
});
