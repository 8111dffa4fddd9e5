// The modalities of input parts: text, image and so on (docs/contract.md#embeddings-request).
import type { EmbeddingInput } from './embedding.js';

export const MODALITIES = ['text', 'image', 'audio', 'video', 'file'] as const;
export type Modality = (typeof MODALITIES)[number];

/** A modality that is not named has no tokens. */
export type TokensByModality = Readonly<Partial<Record<Modality, number>>>;

const MODALITY_OF_PART: ReadonlyMap<unknown, Modality> = new Map([
  ['text', 'text'],
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['input_video', 'video'],
  ['input_file', 'file'],
]);

/** Undefined for a part of unknown type. */
export function modalityOf({ type }: Readonly<Record<string, unknown>>): Modality | undefined {
  return MODALITY_OF_PART.get(type);
}

/** The http(s) or data URL of a part that is not text. Undefined when the part has none. */
export function addressOf(part: Readonly<Record<string, unknown>>): string | undefined {
  // An image has its address in `url`, every other part in `data`.
  const payload = part[String(part['type'])] as Readonly<Record<string, unknown>> | undefined;
  const address = payload?.[modalityOf(part) === 'image' ? 'url' : 'data'];
  return typeof address === 'string' ? address : undefined;
}

/** The modalities of an input, each once. */
export function modalitiesOf(input: EmbeddingInput): Modality[] {
  if (input.form !== 'multimodal') return ['text'];
  const modalities = input.items.flatMap(({ content }) => content.map(modalityOf));
  return [...new Set(modalities)].filter((modality) => modality !== undefined);
}

/** All token counts with their modality. */
export function modalityCounts(tokens: TokensByModality): (readonly [Modality, number])[] {
  const counts: (readonly [Modality, number])[] = [];
  for (const modality of MODALITIES) {
    const count = tokens[modality];
    if (count !== undefined) counts.push([modality, count]);
  }
  return counts;
}

export function addTokens(one: TokensByModality, other: TokensByModality): TokensByModality {
  const sums: Partial<Record<Modality, number>> = { ...one };
  for (const [modality, count] of modalityCounts(other)) sums[modality] = (sums[modality] ?? 0) + count;
  return sums;
}
