// Checks of successful answers: the right vectors, in the requested form.
import type { Members } from '../../test/support/providers/conformance-row.js';
import type { StubRequest } from '../../test/support/providers/provider-stub.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';
import { firstWrong, TEXT, TEXTS } from './check.js';
import type { Check, Trial } from './check.js';
import type { Answer } from './gateway.js';
import { asObject, describeAnswer, assertUsage, assertVectors } from './assert-answer.js';
import type { Problem } from './assert-answer.js';

// The token counts of the stubs.
const TOKENS_OF_TEXT = 3;
const TOKENS_OF_NUMBERED_TEXT = 2;
const NARROW = 256;
// The values that the rows expect upstream.
const USER = 'user-1';
// Used by providers without a limit.
const MANY = 1000;
// For the smallest limits of lists, so that the call needs many provider calls instead of two.
const SMALLEST_LIMIT = 32;
const VERY_MANY = 5000;
const LEAST = 10;
const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const CAPTION = { type: 'text', text: 'a cat' };

export const ANSWER_CHECKS: readonly Check[] = [
  {
    head: 'plain',
    promise: 'a text, and nothing else said, gives its vector as numbers',
    run: async ({ row, askPlainly }) => assertVectors(await askPlainly({ input: TEXT }), row, [TEXT]),
  },
  {
    head: 'list',
    promise: 'three texts give three vectors in their order',
    run: async ({ row, ask }) => assertVectors(await ask({ input: TEXTS }), row, TEXTS),
  },
  {
    head: 'float',
    promise: 'encoding_format: float gives numbers',
    run: async ({ row, ask }) =>
      assertVectors(await ask({ input: TEXT, encoding_format: 'float' }), row, [TEXT]),
  },
  {
    head: 'base64',
    promise: "encoding_format: base64, which OpenAI's own clients ask for, gives the same numbers in base64",
    run: async ({ row, ask }) =>
      assertVectors(await ask({ input: TEXT, encoding_format: 'base64' }), row, [TEXT], { format: 'base64' }),
  },
  {
    head: 'width',
    promise: `dimensions: ${NARROW} gives that width at length one, or a 4xx where it cannot be had`,
    run: async ({ row, ask }) => {
      const answer = await ask({ input: TEXT, dimensions: NARROW });
      return row.dimensions === null && isRejection(answer.status)
        ? null
        : assertVectors(answer, row, [TEXT], { width: NARROW });
    },
  },
  {
    head: 'own',
    promise: "dimensions: the model's own width gives its vectors, at providers too that take no width",
    run: async ({ row, ask }) =>
      assertVectors(await ask({ input: TEXT, dimensions: row.width }), row, [TEXT]),
  },
  {
    head: 'type',
    promise: "input_type reaches the provider in the provider's words, and does no harm where it has none",
    run: (trial) =>
      firstWrong(
        () => assertInputType(trial, 'search_query'),
        () => assertInputType(trial, 'search_document'),
      ),
  },
  {
    head: 'tokens',
    promise: 'token arrays give a vector each, or a 4xx where the provider takes text only',
    run: ({ row, ask }) =>
      firstWrong(
        async () => assertTokens(await ask({ input: [1, 2, 3] }), row, [[1, 2, 3]]),
        async () => assertTokens(await ask({ input: [[1, 2], [3]] }), row, [[1, 2], [3]]),
      ),
  },
  {
    head: 'many',
    promise: `more inputs than the provider takes at once give all their vectors and usage (${VERY_MANY} where the limit is ${SMALLEST_LIMIT})`,
    run: async ({ row, ask }) => {
      const texts = Array.from({ length: inputsAbove(row.maxInputs) }, (_value, index) => `text ${index}`);
      const answer = await ask({ input: texts });
      return firstWrong(
        () => assertVectors(answer, row, texts),
        () => (row.usage !== 'none' ? assertUsage(answer, texts.length * TOKENS_OF_NUMBERED_TEXT) : null),
      );
    },
  },
  {
    head: 'long',
    promise:
      'more tokens than the provider takes at once, in fewer inputs than it takes, give all their vectors',
    applies: ({ tooManyTokens }) => tooManyTokens !== null,
    run: async ({ row, ask }) => {
      const { inputs, words } = row.tooManyTokens ?? { inputs: 0, words: 0 };
      const texts = Array.from({ length: inputs }, (_value, index) => `${'word '.repeat(words - 1)}${index}`);
      return assertVectors(await ask({ input: texts }), row, texts);
    },
  },
  {
    head: 'again',
    promise: 'a text that is repeated, in a call and between calls, has its own vector every time',
    run: ({ row, ask }) =>
      firstWrong(
        async () => assertVectors(await ask({ input: [TEXT] }), row, [TEXT]),
        async () => assertVectors(await ask({ input: ['one', TEXT, 'one'] }), row, ['one', TEXT, 'one']),
      ),
  },
  {
    head: 'items',
    promise: 'an image and a text give a vector each, and their tokens are counted',
    applies: ({ takesImages }) => takesImages,
    run: async ({ row, ask }) => {
      const answer = await ask({ input: [{ content: [PICTURE] }, { content: [CAPTION] }] });
      return firstWrong(
        () => assertItems(answer, row),
        () => assertUsage(answer, null),
      );
    },
  },
  {
    head: 'usage',
    promise: 'prompt_tokens is the count of the provider, or an own count where it reports none',
    run: async ({ row, ask }) =>
      assertUsage(await ask({ input: TEXT }), row.usage === 'none' ? null : TOKENS_OF_TEXT),
  },
  {
    head: 'user',
    promise: 'user reaches providers that take it, and does no harm at the others',
    run: async ({ row, stub, ask }) => {
      const before = stub.requests.length;
      const answer = await ask({ input: TEXT, user: USER });
      return assertVectors(answer, row, [TEXT]) ?? assertSent(stub.requests.slice(before), row.user);
    },
  },
];

async function assertInputType(
  { row, stub, ask }: Trial,
  inputType: 'search_query' | 'search_document',
): Promise<Problem> {
  const before = stub.requests.length;
  const answer = await ask({ input: TEXT, input_type: inputType });
  const { members = {}, prefix = '' } = row.inputTypes[inputType];
  return assertVectors(answer, row, [prefix + TEXT]) ?? assertSent(stub.requests.slice(before), members);
}

/** Every request has these members, in any part of its body. */
function assertSent(requests: readonly StubRequest[], members: Members): Problem {
  for (const [name, value] of Object.entries(members)) {
    const isSent = requests.every(({ body }) => hasMember(body, name, value));
    if (!isSent) return `${name}: ${String(value)} was not sent`;
  }
  return null;
}

function assertTokens(answer: Answer, row: ProviderRow, contents: readonly (readonly number[])[]): Problem {
  if (row.takesTokens) return assertVectors(answer, row, contents);
  return isRejection(answer.status) ? null : `token arrays were not refused: ${describeAnswer(answer)}`;
}

/** The stub's vectors of a picture are arbitrary: the check expects two different vectors of the right width. */
function assertItems(answer: Answer, row: ProviderRow): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { data } = asObject(answer.json);
  const vectors = Array.isArray(data) ? data.map((element) => asObject(element)['embedding']) : [];
  if (vectors.length !== 2) return `${vectors.length} vector(s) for 2 items`;
  if (JSON.stringify(vectors[0]) === JSON.stringify(vectors[1])) return 'one vector twice';
  const isWide = vectors.every((vector) => Array.isArray(vector) && vector.length === row.width);
  return isWide ? null : `not ${row.width} numbers`;
}

function inputsAbove(maxInputs: number | null): number {
  if (maxInputs === null) return MANY;
  return maxInputs === SMALLEST_LIMIT ? VERY_MANY : Math.max(maxInputs + 1, LEAST);
}

function isRejection(status: number): boolean {
  return status >= 400 && status < 500;
}

/** At any depth: beside the inputs or beside each of them. */
function hasMember(value: unknown, name: string, expected: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ((value as Record<string, unknown>)[name] === expected) return true;
  return Object.values(value).some((child) => hasMember(child, name, expected));
}
