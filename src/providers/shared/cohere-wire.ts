// The embeddings wire of Cohere, which Bedrock speaks too: v2 of its own API and the models' bodies on Bedrock differ in
// the form of an image, in base64 and in where the tokens are told.
import type { Vector } from '../../vectors/vectors.js';
import { extraWithout, inlineData, partsOfInput, textsOf, unsupportedPart } from './call-input.js';
import type { InputPart } from './call-input.js';
import { BrokenAnswer } from './provider.js';
import type { BillingTraits, ProviderCall } from './provider.js';
import { knownInputTypeIn } from './input-types.js';
import type { JsonScanner } from '../../vectors/json-scanner.js';
import { given, readVectors } from './wire.js';

const INPUT_TYPES = {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  // Not distinguished; the member is required, and this is what a call without a type gets.
  semantic_similarity: 'search_document',
};
const DEFAULT_INPUT_TYPE = 'search_document';

/** Of the members that carry inputs a body may have one, and this service writes it. */
export const COHERE_BILLING: BillingTraits = {
  free: ['truncate', 'max_tokens', 'priority'],
  repriced: { texts: [], images: [], inputs: [] },
};

export interface CohereDialect {
  readonly embeddingType: 'float' | 'base64';
  /** `url` is a data URL. */
  readonly imagePart: (url: string) => unknown;
}

/** The body but for the model, which Bedrock has in its path. */
export function cohereBody(call: ProviderCall, dialect: CohereDialect): Record<string, unknown> {
  return {
    ...extraWithout('output_dimension', call),
    ...(call.input.form === 'multimodal' ? { inputs: inputsOf(call, dialect) } : { texts: textsOf(call) }),
    input_type: knownInputTypeIn(INPUT_TYPES, ['image'], call) ?? DEFAULT_INPUT_TYPE,
    embedding_types: [dialect.embeddingType],
    ...given('output_dimension', call.dimensions),
  };
}

/** By type as it is asked for, or the bare list that older models on Bedrock give. */
export function readCohereVectors(cursor: JsonScanner): Vector[] {
  if (!cursor.isObject()) return readVectors(cursor);
  let vectors: Vector[] | null = null;
  cursor.eachMember((type) => {
    if (type === 'float' || type === 'base64') vectors = readVectors(cursor);
    else cursor.skipValue();
  });
  if (vectors === null) throw new BrokenAnswer('the answer has no embeddings of the type that was asked for');
  return vectors;
}

function inputsOf(call: ProviderCall, { imagePart }: CohereDialect): readonly unknown[] {
  const toContent = (part: InputPart): unknown => {
    if (part.modality === 'text') return { type: 'text', text: part.text };
    if (part.modality !== 'image') throw unsupportedPart(part, call.upstreamModel);
    // Not fetched from elsewhere by Cohere: refused here, with the path of the part.
    inlineData(part);
    return { type: 'image_url', image_url: imagePart(part.url) };
  };
  return partsOfInput(call).map((parts) => ({ content: parts.map(toContent) }));
}
