// The features of a provider as a row of the conformance table, and rows that several providers share.
import { INPUT_TYPES } from '../../../src/domain/embeddings/embedding.js';
import type { InputType } from '../../../src/domain/embeddings/embedding.js';

export type Members = Readonly<Record<string, unknown>>;
/** The mapping of an input type: members of the request, or words before every text. Neither: it is dropped. */
type InputTypeCell = { readonly members?: Members; readonly prefix?: string };

type InputTypeCells = Readonly<Record<InputType, InputTypeCell>>;
const DROPPED: InputTypeCells = {
  search_query: {},
  search_document: {},
  classification: {},
  clustering: {},
  semantic_similarity: {},
};
export const asMembers = (name: string, values: Readonly<Partial<Record<string, string>>>): InputTypeCells =>
  Object.fromEntries(
    INPUT_TYPES.map((type) => [
      type,
      values[type] === undefined ? {} : { members: { [name]: values[type] } },
    ]),
  ) as InputTypeCells;

export interface ConformanceRow {
  readonly slug: string;
  readonly model: string;
  readonly width: number;
  /** How many the upstream takes at most; null: as many as its memory holds. */
  readonly maxInputs: number | null;
  /** The golden body of a call with these texts and settings. */
  readonly body: (texts: readonly string[], settings: Members) => unknown;
  /** The settings of a call that asks for nothing in particular. */
  readonly plain: Members;
  /** Those of them that a caller may override. */
  readonly defaults: Members;
  /** The settings of a call for 256 numbers; null: refused, naming `dimensions`. */
  readonly dimensions: Members | null;
  readonly inputTypes: InputTypeCells;
  /** An input type in the upstream's own words, and what it becomes; null: it has none, whatever is said is dropped. */
  readonly ownInputType: readonly [string, Members] | null;
  /** The treatment of an unknown input type. */
  readonly strangeInputType: 'dropped' | 'refused' | 'passed on';
  /** The settings of a call for base64; null: floats are asked for, and come. */
  readonly base64: Members | null;
  readonly user: Members;
  readonly usage: 'both' | 'total' | 'none';
  readonly takesTokens: boolean;
  readonly modalities: readonly string[];
  /** A member of the upstream's own, which a caller may send and the stub accepts. */
  readonly extra: Members;
}

const inputBody =
  (model: string): ConformanceRow['body'] =>
  (input, settings) => ({ model, input, ...settings });

/** OpenAI's own row, from which those of its likes differ in some cells. */
export const openAiRow = (slug: string, model: string, width: number): ConformanceRow => ({
  slug,
  model,
  width,
  maxInputs: 2048,
  body: inputBody(model),
  plain: { encoding_format: 'float' },
  defaults: {},
  dimensions: { dimensions: 256 },
  inputTypes: DROPPED,
  ownInputType: null,
  strangeInputType: 'dropped',
  base64: { encoding_format: 'base64' },
  user: { user: 'user-1' },
  usage: 'both',
  takesTokens: true,
  modalities: ['text'],
  extra: {},
});
const COHERE_INPUT_TYPES = asMembers('input_type', {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  semantic_similarity: 'search_document',
});
export const cohereRow: Omit<ConformanceRow, 'slug' | 'model' | 'width' | 'body'> = {
  maxInputs: 96,
  plain: { input_type: 'search_document', embedding_types: ['float'] },
  defaults: {},
  dimensions: { output_dimension: 256 },
  inputTypes: COHERE_INPUT_TYPES,
  ownInputType: ['image', { input_type: 'image' }],
  strangeInputType: 'refused',
  base64: { embedding_types: ['base64'] },
  user: {},
  usage: 'both',
  takesTokens: false,
  modalities: ['text', 'image'],
  extra: { truncate: 'NONE' },
};
export const jinaRow = (
  model: string,
  width: number,
  tasks: Readonly<Partial<Record<string, string>>>,
): ConformanceRow => ({
  ...openAiRow('jina', model, width),
  plain: { normalized: true, embedding_type: 'float' },
  defaults: { normalized: true },
  inputTypes: asMembers('task', tasks),
  strangeInputType: 'passed on',
  base64: { embedding_type: 'base64' },
  user: {},
  takesTokens: false,
  extra: { late_chunking: false },
});
const googleBody =
  (model: string): ConformanceRow['body'] =>
  (texts, settings) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...settings,
    })),
  });
export const googleRow = (model: string): ConformanceRow => ({
  ...openAiRow('google', model, 3072),
  maxInputs: 100,
  body: googleBody(model),
  plain: {},
  dimensions: { outputDimensionality: 256 },
  strangeInputType: 'refused',
  base64: null,
  user: {},
  takesTokens: false,
  extra: { title: 'A title' },
});
export const titanRow = (model: string, width: number): ConformanceRow => ({
  ...openAiRow('bedrock', model, width),
  maxInputs: 1,
  body: ([inputText], settings) => ({ inputText, ...settings }),
  plain: {},
  base64: null,
  user: {},
  takesTokens: false,
  extra: { normalize: true },
});
