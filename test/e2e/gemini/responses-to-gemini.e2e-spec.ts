// POST /responses before Google's own wire (docs/contract.md#gemini-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { GEMINI, startGeminiApp } from '../../support/gemini/gemini-app.js';
import type { GeminiApp } from '../../support/gemini/gemini-app.js';
import { answerChunks, geminiChunk, SIGNATURE } from '../../support/gemini/gemini-stub.js';
import { postResponses, responseEvents, responseOf } from '../../support/responses/responses-client.js';
import type { ReadResponse } from '../../support/responses/responses-client.js';

let setup: GeminiApp;
beforeAll(async () => {
  setup = await startGeminiApp();
});
afterEach(() => setup.google.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.google.requests.at(-1)!;
const LOOK = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } };
const USER = { role: 'user', content: 'x'.repeat(500) };
const post = (body: object) =>
  postResponses(setup.app, { model: GEMINI, input: [USER], tools: [LOOK], ...body });
const ENCRYPTED = { include: ['reasoning.encrypted_content'], reasoning: { effort: 'low', summary: 'auto' } };

const read = {
  whole: async (body: object) => (await (await post(body)).json()) as ReadResponse,
  streamed: async (body: object) => responseOf(await responseEvents(await post({ ...body, stream: true }))),
};

describe.each(['whole', 'streamed'] as const)('a conversation, %s', (form) => {
  it('keeps the signature of a call in the reasoning item before it', async () => {
    const first = await read[form](ENCRYPTED);
    expect(first.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'reasoning', summary: [], encrypted_content: expect.stringMatching(/^sbx1\.gemini\./) },
      { type: 'function_call', call_id: 'fc-1', arguments: '{"id":1}' },
      { type: 'function_call', call_id: 'fc-2', arguments: '{"id":2}' },
    ]);
    expect(first.usage).toMatchObject({
      input_tokens: 100,
      output_tokens: 320,
      output_tokens_details: { reasoning_tokens: 300 },
      cost: 0.003325,
    });
    const results = ['fc-2', 'fc-1'].map((id) => ({
      type: 'function_call_output',
      call_id: id,
      output: id,
    }));
    await read[form]({ ...ENCRYPTED, input: [USER, ...first.output, ...results] });
    expect(sent().body).toMatchObject({
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' } },
      contents: [
        {},
        {
          role: 'model',
          parts: [
            { text: 'Hello' },
            { functionCall: { id: 'fc-1' }, thoughtSignature: SIGNATURE },
            { functionCall: { id: 'fc-2' } },
          ],
        },
        { parts: [{ functionResponse: { id: 'fc-1' } }, { functionResponse: { id: 'fc-2' } }] },
      ],
    });
  });

  it('keeps the signature of a text', async () => {
    setup.google.answerWith((request, response) => {
      const signed = { text: '', thoughtSignature: SIGNATURE };
      const end = { finishReason: 'STOP' };
      const isStream = request.path.includes('stream');
      const chunks = isStream
        ? [geminiChunk([{ text: 'Hello' }]), geminiChunk([signed], end)]
        : [geminiChunk([{ text: 'Hello' }, signed], end)];
      return answerChunks(...chunks)(request, response);
    });
    const first = await read[form](ENCRYPTED);
    expect(first.output.map(({ type }) => type)).toEqual(['message', 'reasoning']);
    await read[form]({ ...ENCRYPTED, input: [USER, ...first.output, USER] });
    expect(sent().body['contents']).toMatchObject([
      {},
      { parts: [{ text: 'Hello', thoughtSignature: SIGNATURE }] },
      {},
    ]);
  });

  it('has no signature that the client did not ask for', async () => {
    expect(JSON.stringify(await read[form]({}))).not.toContain('sbx1');
  });

  it('is incomplete at the limit of tokens', async () => {
    setup.google.answerWith(answerChunks(geminiChunk([{ text: 'Hel' }], { finishReason: 'MAX_TOKENS' })));
    expect(await read[form]({})).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it('has failed with a malformed call', async () => {
    setup.google.answerWith(answerChunks(geminiChunk([], { finishReason: 'MALFORMED_FUNCTION_CALL' })));
    expect(await read[form]({})).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
  });
});
