// Reads the input of a call in the forms that a wire supports, and names the item or part that it does not support.
import type { MultimodalItem } from '../../domain/embeddings/embedding.js';
import { addressOf, modalityOf } from '../../domain/embeddings/modality.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import type { InputPosition } from '../../domain/errors.js';
import { UnsupportedRequest } from './provider.js';
import type { ProviderCall } from './provider.js';

/** One part of a multimodal item. */
export type InputPart =
  | { readonly modality: 'text'; readonly text: string; readonly at: InputPosition }
  | {
      readonly modality: Exclude<Modality, 'text'>;
      /** http(s) or data. */
      readonly url: string;
      readonly at: InputPosition;
    };

export interface InlineData {
  readonly mimeType: string;
  readonly base64: string;
}

/** For wires with texts only: refuses token arrays and parts that are not text. */
export function textsOf({ input, upstreamModel }: ProviderCall): readonly string[] {
  if (input.form === 'texts') return input.items;
  if (input.form === 'tokens') {
    throw new UnsupportedRequest('input', `${upstreamModel} takes text here, not token arrays`);
  }
  return partsOf(input.items).map((parts) => parts.map((part) => textOf(part, upstreamModel)).join('\n'));
}

/** For wires with token arrays as well. */
export function textsOrTokens(call: ProviderCall): readonly (string | readonly number[])[] {
  return call.input.form === 'tokens' ? call.input.items : textsOf(call);
}

/** The parts of every item; texts are items of one part. */
export function partsOfInput(call: ProviderCall): readonly (readonly InputPart[])[] {
  if (call.input.form === 'multimodal') return partsOf(call.input.items);
  return textsOf(call).map((text, index) => [{ modality: 'text', text, at: { index, path: '' } }]);
}

const TYPED_MODALITIES: readonly string[] = ['image', 'audio', 'video'];

/**
 * Throws UnsupportedRequest for an address that is not a data URL, and for data of another modality than the part's,
 * because its price would differ.
 */
export function inlineData({ url, at, modality }: Exclude<InputPart, { modality: 'text' }>): InlineData {
  const match = /^data:([^;,]+)(?:;[^;,]*)*;base64,/.exec(url);
  if (!match?.[1]) {
    throw new UnsupportedRequest(at, 'must be a data URL in base64 (data:image/png;base64,...)');
  }
  const [mimeType] = match[1].trim().toLowerCase().split('/');
  const found = TYPED_MODALITIES.find((name) => name === mimeType) ?? 'file';
  if (found !== modality)
    throw new UnsupportedRequest(at, `is of ${modality}, and its data URL of ${match[1].slice(0, 100)}`);
  return { mimeType: match[1], base64: url.slice(match[0].length) };
}

export function unsupportedPart({ modality, at }: InputPart, upstreamModel: string): UnsupportedRequest {
  return new UnsupportedRequest(at, `${upstreamModel} takes no ${modality} here`);
}

function textOf(part: InputPart, upstreamModel: string): string {
  if (part.modality !== 'text') throw unsupportedPart(part, upstreamModel);
  return part.text;
}

function partsOf(items: readonly MultimodalItem[]): InputPart[][] {
  return items.map(({ content }, index) =>
    content.map((part, position) => readPart(part, { index, path: `.content[${position}]` })),
  );
}

function readPart(part: Readonly<Record<string, unknown>>, at: InputPosition): InputPart {
  const modality = modalityOf(part);
  if (modality === 'text') {
    if (typeof part['text'] === 'string') return { modality, text: part['text'], at };
  } else if (modality) {
    const url = addressOf(part);
    if (url !== undefined) return { modality, url, at };
  }
  throw new UnsupportedRequest(at, 'is not a part that is known here');
}

/** Members of an upstream that select the form of vectors, each with the values that this service can read. */
export type ReadableForms = Readonly<Record<string, readonly unknown[]>>;

/** A response in another form would be paid for and discarded. */
export function rejectOtherForms(forms: ReadableForms, { extra }: ProviderCall): void {
  for (const [name, readable] of Object.entries(forms)) {
    const value = Object.hasOwn(extra, name) ? extra[name] : null;
    const asked = Array.isArray(value) ? value : [value ?? readable[0]];
    if (!asked.every((form) => readable.includes(form)))
      throw new UnsupportedRequest(name, `must be ${readable.join(' or ')} here`);
  }
}

/** The unknown members of the body. `alias` is the upstream's own name for the width. */
export function extraWithout(alias: string, { extra }: ProviderCall): Readonly<Record<string, unknown>> {
  rejectWidth(alias, extra);
  return extra;
}

/** Only `dimensions` sets the width. */
export function rejectWidth(alias: string, members: object): void {
  if (Object.hasOwn(members, alias)) throw new UnsupportedRequest(alias, 'is called dimensions here');
}
