// Cohere's embeddings wire, which Bedrock shares: the v2 API and the bodies on Bedrock differ in the form of an image,
// in base64, and in where the token counts are.
import type { Vector } from '../../vectors/vectors.js';
import {
  extraWithout,
  inlineData,
  partsOfInput,
  rejectOtherForms,
  textsOf,
  unsupportedPart,
} from './call-input.js';
import type { InputPart } from './call-input.js';
import { BrokenAnswer } from './provider.js';
import type { BillingTraits, ProviderCall } from './provider.js';
import { knownInputTypeIn } from './input-types.js';
import type { JsonScanner } from '../../json/json-scanner.js';
import { given, readVectors } from './wire.js';

const INPUT_TYPES = {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  // Cohere has no such type. The member is required, and a call without a type gets this value as well.
  semantic_similarity: 'search_document',
};
const DEFAULT_INPUT_TYPE = 'search_document';

/** A body has one member for inputs, and this service writes it. */
export const COHERE_BILLING: BillingTraits = {
  free: ['truncate', 'max_tokens', 'priority'],
  repriced: { texts: [], images: [], inputs: [] },
};

export interface CohereDialect {
  readonly embeddingType: 'float' | 'base64';
  /** The words for the end that is cut. */
  readonly truncates: 'START or END' | 'LEFT or RIGHT';
  /** `url` is a data URL. */
  readonly imagePart: (url: string) => unknown;
}

const FORMS = { embedding_types: ['float', 'base64'] };
/** The ends of a text by both APIs: Cohere's words are those of the v3 models on Bedrock too. */
const ENDS = { START: 'LEFT', END: 'RIGHT' };
const COHERE_ENDS = new Map(Object.entries(ENDS).map(([cohere, bedrock]) => [bedrock, cohere]));
const BEDROCK_ENDS = new Map(Object.entries(ENDS));

/** A call may reach either API: each gets the mode of truncation in its own word. */
const truncateIn = (words: ReadonlyMap<string, string>, { extra: { truncate } }: ProviderCall) =>
  typeof truncate === 'string' ? { truncate: words.get(truncate) ?? truncate } : {};

/** The body without the model, which Bedrock has in its path. */
export function cohereBody(call: ProviderCall, dialect: CohereDialect): Record<string, unknown> {
  rejectOtherForms(FORMS, call);
  return {
    ...extraWithout('output_dimension', call),
    ...truncateIn(dialect.truncates === 'LEFT or RIGHT' ? BEDROCK_ENDS : COHERE_ENDS, call),
    ...(call.input.form === 'multimodal' ? { inputs: inputsOf(call, dialect) } : { texts: textsOf(call) }),
    input_type: knownInputTypeIn(INPUT_TYPES, ['image'], call) ?? DEFAULT_INPUT_TYPE,
    embedding_types: [dialect.embeddingType],
    ...given('output_dimension', call.dimensions),
  };
}

/** Reads vectors by type, or the plain list that older models on Bedrock return. */
export function readCohereVectors(cursor: JsonScanner): Vector[] {
  if (!cursor.isObject()) return readVectors(cursor);
  let vectors: Vector[] | null = null;
  cursor.eachMember((type) => {
    if (type === 'float' || type === 'base64') vectors = readVectors(cursor);
    else cursor.skipValue();
  });
  if (vectors === null) throw new BrokenAnswer('the answer has no embeddings of the requested type');
  return vectors;
}

function inputsOf(call: ProviderCall, { imagePart }: CohereDialect): readonly unknown[] {
  const toContent = (part: InputPart): unknown => {
    if (part.modality === 'text') return { type: 'text', text: part.text };
    if (part.modality !== 'image') throw unsupportedPart(part, call.upstreamModel);
    // Cohere does not fetch images: refuses other addresses here, with the path of the part.
    inlineData(part);
    return { type: 'image_url', image_url: imagePart(part.url) };
  };
  return partsOfInput(call).map((parts) => ({ content: parts.map(toContent) }));
}
