// What the parts of an input are: text, images and so on. Source: contract 4.1.
import type { EmbeddingInput } from './embedding.js';

export const MODALITIES = ['text', 'image', 'audio', 'video', 'file'] as const;
export type Modality = (typeof MODALITIES)[number];

/** A modality that is not named has none. */
export type TokensByModality = Readonly<Partial<Record<Modality, number>>>;

const MODALITY_OF_PART: ReadonlyMap<unknown, Modality> = new Map([
  ['text', 'text'],
  ['image_url', 'image'],
  ['input_audio', 'audio'],
  ['input_video', 'video'],
  ['input_file', 'file'],
]);

/** Undefined for a part of a type that is not known. */
export function modalityOf({ type }: Readonly<Record<string, unknown>>): Modality | undefined {
  return MODALITY_OF_PART.get(type);
}

/** Where the content of a part is that is not text: http(s) or data. Undefined when the part does not say. */
export function addressOf(part: Readonly<Record<string, unknown>>): string | undefined {
  // An image has its address in `url`, everything else in `data`.
  const payload = part[String(part['type'])] as Readonly<Record<string, unknown>> | undefined;
  const address = payload?.[modalityOf(part) === 'image' ? 'url' : 'data'];
  return typeof address === 'string' ? address : undefined;
}

/** Those that an input has, each once. */
export function modalitiesOf(input: EmbeddingInput): Modality[] {
  if (input.form !== 'multimodal') return ['text'];
  const modalities = input.items.flatMap(({ content }) => content.map(modalityOf));
  return [...new Set(modalities)].filter((modality) => modality !== undefined);
}

/** Every count of tokens, with its modality. */
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
