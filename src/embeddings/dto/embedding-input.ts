// Reads `input` in its five forms: text, texts, tokens, several token arrays, multimodal items. Contract:
// docs/contract.md#embeddings-request.
import { AppError } from '../../domain/errors.js';
import type { EmbeddingInput, MultimodalItem } from '../../domain/embeddings/embedding.js';
import { NOT_WELL_FORMED } from '../../domain/text/storable-text.js';
import { isObject } from '../../domain/members.js';
import { rejectHostileShape } from '../../http/fields/json-shape.js';

export const INPUT_SCHEMA = {
  oneOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
    { type: 'array', minItems: 1, items: { type: 'integer' }, description: 'One tokenised input.' },
    { type: 'array', minItems: 1, items: { type: 'array', minItems: 1, items: { type: 'integer' } } },
    {
      type: 'array',
      minItems: 1,
      description: 'Multimodal items: one vector each.',
      items: {
        type: 'object',
        required: ['content'],
        properties: { content: { type: 'array', minItems: 1, items: { type: 'object' } } },
      },
    },
  ],
};

type Part = Readonly<Record<string, unknown>>;

const PAYLOAD_OF_PART: ReadonlyMap<unknown, (part: Part) => boolean> = new Map([
  ['text', (part: Part) => hasText(part, 'text')],
  ['image_url', ({ image_url }: Part) => hasText(image_url, 'url')],
  ['input_audio', ({ input_audio }: Part) => hasText(input_audio, 'data')],
  ['input_video', ({ input_video }: Part) => hasText(input_video, 'data')],
  ['input_file', ({ input_file }: Part) => hasText(input_file, 'data')],
]);
const MAX_TOKEN = 2 ** 31 - 1;
// Parts go upstream with all their members. As many values as the inputs of the narrowest vectors have.
const MULTIMODAL = { elements: 2 ** 18, values: 2 ** 18, allowsAnyName: true, isWellFormed: true };
// More than a call can have vectors of one number each. The bound of the model is checked later, and is lower.
const MAX_INPUTS = 2 ** 18;

/** Throws `invalid_request` that names the input at fault. */
export function readEmbeddingInput(input: unknown): EmbeddingInput {
  if (typeof input === 'string') return { form: 'texts', items: [readText(input, null)] };
  if (!Array.isArray(input)) {
    return rejectInput(
      null,
      '',
      'must be a string, an array of strings, of token numbers, of arrays of them, or of multimodal items',
    );
  }
  const items: readonly unknown[] = input;
  const [first] = items;
  if (items.length === 0) rejectInput(null, '', 'must not be empty');
  const each = <Item>(read: (item: unknown, index: number) => Item): Item[] => items.map(read);
  if (typeof first !== 'number' && items.length > MAX_INPUTS)
    rejectInput(null, '', `must have at most ${MAX_INPUTS} inputs`);
  if (typeof first === 'string') return { form: 'texts', items: each(readText) };
  if (typeof first === 'number') return { form: 'tokens', items: [readTokens(items, null)] };
  if (Array.isArray(first)) return { form: 'tokens', items: each(readTokens) };
  rejectHostileShape(items, ['input'], MULTIMODAL);
  return { form: 'multimodal', items: each(readMultimodalItem) };
}

/** `index` null: the input is not one of a list. `path` is the part of it that is at fault. */
function rejectInput(index: number | null, path: string, rule: string): never {
  const at = index === null ? { member: `input${path}` } : { inputIndex: index, inputPath: path };
  throw new AppError('invalid_request', { ...at, detail: rule });
}

function readText(item: unknown, index: number | null): string {
  if (typeof item !== 'string') return rejectInput(index, '', 'must be a string like the other inputs');
  if (item === '') rejectInput(index, '', 'must not be empty');
  // Providers reject lone surrogates with various errors, or embed a replacement character.
  if (!item.isWellFormed()) rejectInput(index, '', NOT_WELL_FORMED);
  return item;
}

function readTokens(item: unknown, index: number | null): readonly number[] {
  if (!Array.isArray(item)) return rejectInput(index, '', 'must be an array of tokens like the other inputs');
  if (item.length === 0) rejectInput(index, '', 'must not be empty');
  const tokens: readonly unknown[] = item;
  const wrong = tokens.findIndex((token) => !isToken(token));
  if (wrong !== -1) rejectInput(index, `[${wrong}]`, 'must be a token, a whole number from 0');
  return tokens as readonly number[];
}

function isToken(token: unknown): boolean {
  return Number.isInteger(token) && (token as number) >= 0 && (token as number) <= MAX_TOKEN;
}

function readMultimodalItem(item: unknown, index: number): MultimodalItem {
  const content = isObject(item) ? item['content'] : undefined;
  if (!Array.isArray(content)) {
    return rejectInput(
      index,
      '',
      'must be a string, tokens, or an object with a content array, all inputs alike',
    );
  }
  if (content.length === 0) rejectInput(index, '.content', 'must not be empty');
  content.forEach((part: unknown, position) => {
    const hasPayload = isObject(part) ? PAYLOAD_OF_PART.get(part['type']) : undefined;
    if (isObject(part) && hasPayload?.(part)) return;
    const path = `.content[${position}]`;
    if (!isObject(part) || !hasPayload)
      rejectInput(index, `${path}.type`, `must be one of ${[...PAYLOAD_OF_PART.keys()].join(', ')}`);
    rejectInput(index, path, `lacks what its type ${String(part['type'])} needs`);
  });
  return { content: content as MultimodalItem['content'] };
}

function hasText(value: unknown, name: string): boolean {
  return isObject(value) && typeof value[name] === 'string' && value[name] !== '';
}
