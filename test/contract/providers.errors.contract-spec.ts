// Failures of every provider: rejections and failures of its stub, truncated answers, and answers without promised
// members.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import type { FailureClass } from '../../src/routing/failures/failure-classes.js';
import { BrokenAnswer } from '../../src/providers/shared/provider.js';
import { callOf, embed, exchange, failure, failureOf, httpProvider } from '../support/providers/drive.js';
import { PROVIDER_STUBS } from '../support/providers/index.js';
import type { RunningProviderStub, StubFailure } from '../support/providers/provider-stub.js';

const CLASSES: Readonly<Record<StubFailure, readonly FailureClass[]>> = {
  rateLimited: ['rate_limited'],
  overloaded: ['overloaded'],
  broken: ['failed'],
  invalid: ['refused', 'context_length'],
};
const FAILURES = Object.keys(CLASSES) as StubFailure[];

/** Every text of a body. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

const ONE_TEXT = { form: 'texts', items: ['one'] } as const;

describe.each(PROVIDER_STUBS.map((stub) => [stub.slug, stub] as const))('%s', (slug, stub) => {
  const provider = httpProvider(slug);
  const [model] = stub.models;
  const call = callOf(model, { input: ONE_TEXT });
  let running: RunningProviderStub;
  beforeAll(async () => {
    running = await stub.start();
  });
  afterAll(() => running.close());

  it.each(FAILURES)("reads %s: its class, and a message in the upstream's own words", async (name) => {
    const reply = stub.failures[name];
    running.replyWith(reply);
    const error = await failure(provider, call, { baseUrl: running.baseUrl, apiKey: stub.apiKey });
    running.replyWith(null);
    expect(CLASSES[name]).toContain(error.failureClass);
    expect(
      stringsIn(reply.body).filter((words) => words !== '' && error.message.endsWith(words)),
    ).not.toEqual([]);
  });

  if (stub.apiKey !== '') {
    it('reads a wrong key as a credential failure, without repeating the key', async () => {
      const error = await failure(provider, call, { baseUrl: running.baseUrl, apiKey: 'wrong' });
      expect(error.consequences.circuit).toMatch(/^credential/);
      expect(error.message).not.toContain('wrong:');
    });
  }

  it("reads a missing model as the operator's failure", async () => {
    const unknown = slug === 'bedrock' ? 'amazon.titan-embed-text-v9' : 'unknown-model';
    const connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
    const { response } = await exchange(provider, callOf(unknown, { input: ONE_TEXT }), connection);
    if (['openai-compatible', 'tei'].includes(slug)) return expect(response.status).toBe(200);
    const error = failureOf(provider, response);
    expect(error.failureClass).toBe('endpoint');
    expect(error.message).not.toBe('');
  });

  it('rejects an answer that is cut at any byte, or followed by another', async () => {
    const connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
    const { response } = await exchange(provider, call, connection);
    const whole = response.body;
    expect(provider.readAnswer(response, call).vectors).toHaveLength(1);
    for (
      let length = 0;
      length < whole.length;
      length += length < 200 || length > whole.length - 500 ? 1 : 37
    ) {
      const cut = { ...response, body: whole.subarray(0, length) };
      expect(() => provider.readAnswer(cut, call)).toThrow(BrokenAnswer);
    }
    const followed = { ...response, body: Buffer.concat([whole, whole]) };
    expect(() => provider.readAnswer(followed, call)).toThrow(BrokenAnswer);
  });

  it.each([
    '',
    'null',
    '{}',
    '[]',
    '"text"',
    '<html></html>',
    '{"data":null,"embeddings":null,"embedding":null}',
  ])('rejects an answer that is %j', (text) => {
    const response = { status: 200, headers: {}, body: Buffer.from(text) };
    expect(() => provider.readAnswer(response, call)).toThrow(BrokenAnswer);
  });

  it('rejects an answer with invalid vectors', async () => {
    const answers = [
      { data: [{ index: 0, embedding: { float: [1] } }], embeddings: [{ values: {} }], embedding: {} },
      { data: [{ index: 0 }], embeddings: [null], embedding: 'no vector'.length },
    ];
    for (const answer of answers) {
      const response = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
      expect(() => provider.readAnswer(response, call)).toThrow(BrokenAnswer);
    }
    await expect(
      embed(provider, call, { baseUrl: running.baseUrl, apiKey: stub.apiKey }),
    ).resolves.toBeDefined();
  });

  it('reads or rejects any bytes, and reads every error', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ 019.-e',
      '"data"',
      '"embedding"',
      '"embeddings"',
      '"values"',
      '"float"',
      '"index"',
      '"usage"',
      '"meta"',
      '"error"',
      '"message"',
      '"detail"',
      '"details"',
      '{"data":[{"embedding":',
      '{"embeddings":[[',
      'null',
    );
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 20 }), (text) => {
        const response = { status: 400, headers: {}, body: Buffer.from(text) };
        try {
          provider.readAnswer(response, call);
        } catch (error) {
          expect(error).toBeInstanceOf(BrokenAnswer);
        }
        expect(typeof provider.readError(response).message).toBe('string');
      }),
      { numRuns: 500 },
    );
  });

  it('reads an error page that is not JSON as its text', () => {
    const response = { status: 502, headers: {}, body: Buffer.from('<html>Bad gateway</html>') };
    expect(provider.readError(response).message).toBe('<html>Bad gateway</html>');
  });
});
