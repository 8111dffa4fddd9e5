// The conformance of every provider, against a stub of its wire. The table states its features, and the tests check
// every cell.
// must do; the tests below it hold every cell.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INPUT_TYPES } from '../../src/domain/embeddings/embedding.js';
import { vectorValues, vectorWidth } from '../../src/vectors/vectors.js';
import type { ProviderAnswer, ProviderCall } from '../../src/providers/shared/provider.js';
import { UnsupportedRequest } from '../../src/providers/shared/provider.js';
import { EMBEDDING_PROVIDERS, PROVIDERS } from '../../src/providers/index.js';
import { callOf, embed, exchange, httpProvider, stubOf } from '../support/providers/drive.js';
import { createWork } from '../support/upstreams/pace.js';
import type { Members } from '../support/providers/conformance-row.js';
import { CONFORMANCE_TABLE } from '../support/providers/conformance-table.js';
import type { RunningProviderStub } from '../support/providers/provider-stub.js';
import { countAllTokens, vectorOf } from '../support/providers/vectors.js';

/** The location of a call's members: Google has them beside every input. */
function settingsOf(body: unknown): Members {
  const { requests } = body as { requests?: readonly Members[] };
  return requests?.[0] ?? (body as Members);
}

const TEXTS = ['one', 'two words', 'three more words'];
const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';
const PARTS: Readonly<Record<string, Members>> = {
  text: { type: 'text', text: 'one' },
  image: { type: 'image_url', image_url: { url: DATA_URL } },
  audio: { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } },
  video: { type: 'input_video', input_video: { data: 'data:video/mp4;base64,AAAAIA==' } },
  file: { type: 'input_file', input_file: { data: 'data:application/pdf;base64,JVBERg==' } },
};

it('has a row for every embedding provider over HTTP', () => {
  const slugs = EMBEDDING_PROVIDERS.filter(({ transport }) => transport === 'http').map(({ slug }) => slug);
  expect([...new Set(CONFORMANCE_TABLE.map(({ slug }) => slug))].sort()).toEqual([...slugs].sort());
  expect(new Set(slugs).size).toBe(slugs.length);
});

describe.each(CONFORMANCE_TABLE.map((row) => [`${row.slug} (${row.model})`, row] as const))(
  '%s',
  (_name, row) => {
    const provider = httpProvider(row.slug);
    const stub = stubOf(row.slug);
    let running: RunningProviderStub;
    beforeAll(async () => {
      running = await stub.start();
    });
    afterAll(() => running.close());

    const connection = () => ({ baseUrl: running.baseUrl, apiKey: stub.apiKey });
    const textsPerCall = row.maxInputs === 1 ? TEXTS.map((text) => [text]) : [TEXTS];
    /** The three texts, in as many calls as needed; returns the received bodies. */
    async function embedTexts(overrides: Partial<ProviderCall> = {}) {
      const answers: ProviderAnswer[] = [];
      const before = running.requests.length;
      for (const items of textsPerCall) {
        const call = callOf(row.model, { input: { form: 'texts', items }, ...overrides });
        answers.push(await embed(provider, call, connection()));
      }
      const bodies = running.requests.slice(before).map(({ body }) => body);
      return { answers, vectors: answers.flatMap(({ vectors }) => vectors), bodies };
    }
    const goldenBodies = (settings: Members, prefix = '') =>
      textsPerCall.map((texts) =>
        row.body(
          texts.map((text) => prefix + text),
          { ...row.plain, ...settings },
        ),
      );
    function expectVectors(
      vectors: ProviderAnswer['vectors'],
      contents: readonly unknown[],
      width = row.width,
    ) {
      expect(vectors.map(vectorWidth)).toEqual(contents.map(() => width));
      vectors.forEach((vector, index) => {
        const expected = vectorOf(contents[index], row.width, width);
        const off = [...vectorValues(vector)].map((value, at) => Math.abs(value - (expected[at] ?? NaN)));
        expect(Math.max(...off)).toBeLessThan(1e-6);
      });
    }

    it('returns three vectors for three inputs, in order, for the golden request', async () => {
      const { vectors, bodies } = await embedTexts();
      expect(bodies).toEqual(goldenBodies({}));
      expectVectors(vectors, TEXTS);
    });

    it('returns the requested width at length one, or rejects it', async () => {
      if (row.dimensions === null) {
        await expect(embedTexts({ dimensions: 256 })).rejects.toThrow(UnsupportedRequest);
        await expect(embedTexts({ dimensions: 256 })).rejects.toThrow(/^dimensions: /);
        return;
      }
      const { vectors, bodies } = await embedTexts({ dimensions: 256 });
      expect(bodies).toEqual(goldenBodies(row.dimensions));
      expectVectors(vectors, TEXTS, 256);
      for (const vector of vectors) expect(Math.hypot(...vectorValues(vector))).toBeCloseTo(1, 6);
    });

    it.each(INPUT_TYPES)('maps the input type %s', async (inputType) => {
      const { members = {}, prefix = '' } = row.inputTypes[inputType];
      const { vectors, bodies } = await embedTexts({ inputType });
      expect(bodies).toEqual(goldenBodies(members, prefix));
      expectVectors(
        vectors,
        TEXTS.map((text) => prefix + text),
      );
    });

    const { ownInputType, maxInputs } = row;
    if (ownInputType !== null) {
      it("forwards an input type in the upstream's own words", async () => {
        const [inputType, members] = ownInputType;
        const { bodies } = await embedTexts({ inputType });
        expect(bodies).toEqual(goldenBodies(members));
      });
    }

    it('drops, rejects or forwards an unknown input type', async () => {
      const call = callOf(row.model, { inputType: 'strange', input: { form: 'texts', items: ['one'] } });
      if (row.strangeInputType === 'refused') {
        expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
        expect(() => provider.buildRequest(call, connection())).toThrow(/^input_type: /);
        return;
      }
      const { body } = await provider.buildRequest(call, connection());
      expect(body.includes('"strange"')).toBe(row.strangeInputType === 'passed on');
    });

    it('returns base64 where it can, with vectors of the same numbers', async () => {
      const { vectors, bodies } = await embedTexts({ encodingFormat: 'base64' });
      expect(bodies).toEqual(goldenBodies(row.base64 ?? {}));
      expect(vectors.map(({ form }) => form)).toEqual(
        TEXTS.map(() => (row.base64 === null ? 'json' : 'base64')),
      );
      expectVectors(vectors, TEXTS);
    });

    it('sends the user only where the wire has a member for it', async () => {
      const { bodies } = await embedTexts({ user: 'user-1' });
      expect(bodies).toEqual(goldenBodies(row.user));
    });

    it("reports the upstream's usage, and null for missing members", async () => {
      const { answers } = await embedTexts();
      const expected = textsPerCall.map((texts) => {
        const tokens = countAllTokens(texts);
        return [row.usage === 'both' ? tokens : null, row.usage === 'none' ? null : tokens];
      });
      expect(answers.map(({ promptTokens, totalTokens }) => [promptTokens, totalTokens])).toEqual(expected);
    });

    it('accepts token arrays, or rejects them naming the input', async () => {
      const items = [[1, 2, 3], [4]].slice(0, row.maxInputs ?? 2);
      const call = callOf(row.model, { input: { form: 'tokens', items } });
      if (row.takesTokens) {
        const answer = await embed(provider, call, connection());
        expectVectors(answer.vectors, items);
      } else {
        expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
        expect(() => provider.buildRequest(call, connection())).toThrow(/^input: /);
      }
    });

    it.each(Object.keys(PARTS))(
      'accepts a part that is %s, or rejects it naming the part',
      async (modality) => {
        const content = [PARTS[modality] as Members];
        const call = callOf(row.model, { input: { form: 'multimodal', items: [{ content }] } });
        if (row.modalities.includes(modality)) {
          const answer = await embed(provider, call, connection());
          expect(answer.vectors.map(vectorWidth)).toEqual([row.width]);
        } else {
          expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
          expect(() => provider.buildRequest(call, connection())).toThrow(/^input\[0\]\.content\[0\]: /);
        }
      },
    );

    it("sends the caller's other members, and never instead of its own", async () => {
      const { bodies } = await embedTexts({ extra: row.extra });
      expect(bodies).toEqual(goldenBodies(row.extra));
      const [golden] = goldenBodies({}).map(settingsOf);
      // Another form of vectors is refused instead (providers.wires.contract-spec).
      const own = Object.keys(golden ?? {}).filter((name) => !/^embedding_types?$/.test(name));
      const hostile = Object.fromEntries(own.map((name) => [name, 'hostile']));
      const call = callOf(row.model, {
        input: { form: 'texts', items: textsPerCall[0] ?? [] },
        extra: { ...hostile, ...row.defaults },
      });
      const { body } = await provider.buildRequest(call, connection());
      expect(settingsOf(JSON.parse(body))).toEqual(golden);
    });

    if (maxInputs === 1) {
      it('sends no second input where a call holds one', () => {
        expect(() => provider.buildRequest(callOf(row.model), connection())).toThrow(
          /^input: .* one text a call/,
        );
      });
    } else if (maxInputs !== null) {
      it('is rejected by the upstream with a message when it sends too many inputs', async () => {
        const call = (count: number) => {
          const items = Array.from({ length: count }, (_value, index) => `text ${index}`);
          return callOf(row.model, { input: { form: 'texts', items } });
        };
        const fits = await exchange(provider, call(maxInputs), connection());
        expect(fits.response.status).toBe(200);
        const tooMany = await exchange(provider, call(maxInputs + 1), connection());
        expect([400, 422]).toContain(tooMany.response.status);
        expect(provider.readError(tooMany.response).message).toMatch(/^[^{]/);
      });
    }
  },
);

describe('local', () => {
  const local = PROVIDERS.find(({ slug }) => slug === 'local');
  if (local?.transport !== 'local') throw new Error('no local provider');

  it('returns three vectors for three inputs, of the requested width, and counts tokens', async () => {
    const answer = await local.embed(callOf('hashing', { dimensions: 256 }), createWork());
    expect(answer.vectors.map(vectorWidth)).toEqual([256, 256, 256]);
    expect(answer.promptTokens).toBe(6);
  });

  it('accepts token arrays and texts in items, and rejects other parts naming the input', async () => {
    const tokens = await local.embed(
      callOf('hashing', { input: { form: 'tokens', items: [[1, 2], [3]] } }),
      createWork(),
    );
    expect(tokens.vectors).toHaveLength(2);
    const item = (part: Members | undefined) =>
      callOf('hashing', { input: { form: 'multimodal', items: [{ content: [part as Members] }] } });
    expect((await local.embed(item(PARTS['text']), createWork())).vectors).toHaveLength(1);
    await expect(local.embed(item(PARTS['image']), createWork())).rejects.toThrow(/^input\[0\]/);
  });
});
