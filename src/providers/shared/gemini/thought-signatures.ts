// Signatures of Gemini's thoughts. They must come back on the parts that brought them: on calls by the rule that both of Google's
// wires share, on texts by a detail without the id of a call (docs/contract.md#gemini-providers).
import type { JsonValue } from '../../../domain/chat/chat-request.js';
import { GEMINI_FORMAT } from '../../../domain/chat/reasoning-producer.js';
import { isArray, isObject } from '../../../domain/members.js';
import type { CallSignatures } from '../chat/call-signatures.js';
import { asObject } from '../wire.js';

/** Gemini 3 and later, and the names of the latest models. */
const LATER_MODELS = /\bgemini-(?:[3-9]|\d{2}|[a-z-]+-latest$)/;

/** Such models sign their calls, and think by a level instead of a budget. */
export function isGemini3OrLater(upstreamModel: string): boolean {
  return LATER_MODELS.test(upstreamModel);
}

/** Gemini 3 refuses a function call of its history without the signature of its thought. */
export const THOUGHT_SIGNATURES: CallSignatures = {
  format: GEMINI_FORMAT,
  read: ({ extra_content: extra }) => {
    const { thought_signature: signature } = asObject(asObject(extra)['google']);
    return typeof signature === 'string' && signature !== '' ? signature : null;
  },
  write: (call, signature) => {
    const extra = asObject(call['extra_content']);
    const own = { ...asObject(extra['google']), thought_signature: signature };
    return { ...call, extra_content: { ...extra, google: own } };
  },
  // Google's guide to thought signatures names it for calls that no Gemini made.
  placeholder: ({ upstreamModel }) =>
    isGemini3OrLater(upstreamModel) ? 'skip_thought_signature_validator' : null,
};

export interface EarlierThoughts {
  /** Of the text of the turn; null: it has none. */
  readonly textSignature: string | null;
  /** A thought that another producer made, or one without its signature. Texts of own thoughts need not come back. */
  readonly isLost: boolean;
}

/** The signatures of calls are read by `withSignedCalls`. */
export function earlierThoughts(details: JsonValue | undefined): EarlierThoughts {
  let textSignature: string | null = null;
  let isLost = false;
  for (const detail of isArray(details) ? details : []) {
    if (!isObject(detail)) continue;
    const { type, format = null, id, text, signature, data } = detail;
    if (format === GEMINI_FORMAT) {
      if (typeof signature === 'string' && signature !== '') textSignature = signature;
      else isLost ||= type === 'reasoning.encrypted' ? typeof data !== 'string' : text === '';
    } else {
      // Clients may lose the format.
      const isOfCall = format === null && type === 'reasoning.encrypted' && typeof id === 'string';
      isLost ||= !isOfCall && text !== '';
    }
  }
  return { textSignature, isLost };
}
