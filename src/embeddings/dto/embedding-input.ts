// Reading `input` in its five forms: text, texts, tokens, several of tokens, multimodal items. Source: contract 4.1.
import { rejectHostileShape } from '../../http/body/json-shape.js';
import type { EmbeddingInput, MultimodalItem } from '../../domain/embeddings/embedding.js';

/** What is wrong with an input, in the words of the 400: "input[3]: must not be empty". */
export class InputProblem extends Error {}

type Part = Readonly<Record<string, unknown>>;

const PAYLOAD_OF_PART: ReadonlyMap<unknown, (part: Part) => boolean> = new Map([
  ['text', (part: Part) => hasText(part, 'text')],
  ['image_url', ({ image_url }: Part) => hasText(image_url, 'url')],
  ['input_audio', ({ input_audio }: Part) => hasText(input_audio, 'data')],
  ['input_video', ({ input_video }: Part) => hasText(input_video, 'data')],
  ['input_file', ({ input_file }: Part) => hasText(input_file, 'data')],
]);
const MAX_TOKEN = 2 ** 31 - 1;
// Parts go upstream with whatever they hold. As many values as the inputs of the narrowest vectors have.
const MULTIMODAL = { elements: 2 ** 18, values: 2 ** 18, allowsAnyName: true };
// More than a call can have vectors, of one number each: the bound of the model is looked at later, and is lower.
const MAX_INPUTS = 2 ** 18;

/** Throws InputProblem. */
export function readEmbeddingInput(input: unknown): EmbeddingInput {
  if (typeof input === 'string') return { form: 'texts', items: [readText(input, null)] };
  if (!Array.isArray(input)) {
    throw new InputProblem(
      'input: must be a string, an array of strings, of token numbers, of arrays of them, or of multimodal items',
    );
  }
  const items: readonly unknown[] = input;
  const [first] = items;
  if (items.length === 0) throw new InputProblem('input: must not be empty');
  const each = <Item>(read: (item: unknown, index: number) => Item): Item[] => items.map(read);
  if (typeof first !== 'number' && items.length > MAX_INPUTS)
    throw new InputProblem(`input: must have at most ${MAX_INPUTS} inputs`);
  if (typeof first === 'string') return { form: 'texts', items: each(readText) };
  if (typeof first === 'number') return { form: 'tokens', items: [readTokens(items, null)] };
  if (Array.isArray(first)) return { form: 'tokens', items: each(readTokens) };
  rejectHostileShape(items, ['input'], MULTIMODAL);
  return { form: 'multimodal', items: each(readMultimodalItem) };
}

/** Made only where something is wrong: there may be millions of inputs. Null: the input is not one of a list. */
function pathOf(index: number | null): string {
  return index === null ? 'input' : `input[${index}]`;
}

function readText(item: unknown, index: number | null): string {
  if (typeof item !== 'string')
    throw new InputProblem(`${pathOf(index)}: must be a string like the other inputs`);
  if (item === '') throw new InputProblem(`${pathOf(index)}: must not be empty`);
  return item;
}

function readTokens(item: unknown, index: number | null): readonly number[] {
  if (!Array.isArray(item))
    throw new InputProblem(`${pathOf(index)}: must be an array of tokens like the other inputs`);
  if (item.length === 0) throw new InputProblem(`${pathOf(index)}: must not be empty`);
  const tokens: readonly unknown[] = item;
  const wrong = tokens.findIndex((token) => !isToken(token));
  if (wrong !== -1)
    throw new InputProblem(`${pathOf(index)}[${wrong}]: must be a token, a whole number from 0`);
  return tokens as readonly number[];
}

function isToken(token: unknown): boolean {
  return Number.isInteger(token) && (token as number) >= 0 && (token as number) <= MAX_TOKEN;
}

function readMultimodalItem(item: unknown, index: number): MultimodalItem {
  const content = isObject(item) ? item['content'] : undefined;
  if (!Array.isArray(content)) {
    throw new InputProblem(
      `${pathOf(index)}: must be a string, tokens, or an object with a content array, all inputs alike`,
    );
  }
  if (content.length === 0) throw new InputProblem(`${pathOf(index)}.content: must not be empty`);
  content.forEach((part: unknown, partIndex) => {
    const hasPayload = isObject(part) ? PAYLOAD_OF_PART.get(part['type']) : undefined;
    const partPath = (): string => `${pathOf(index)}.content[${partIndex}]`;
    if (!isObject(part) || !hasPayload) {
      throw new InputProblem(`${partPath()}.type: must be one of ${[...PAYLOAD_OF_PART.keys()].join(', ')}`);
    }
    if (!hasPayload(part))
      throw new InputProblem(`${partPath()}: lacks what its type ${String(part['type'])} needs`);
  });
  return { content: content as MultimodalItem['content'] };
}

function hasText(value: unknown, name: string): boolean {
  return isObject(value) && typeof value[name] === 'string' && value[name] !== '';
}

function isObject(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
