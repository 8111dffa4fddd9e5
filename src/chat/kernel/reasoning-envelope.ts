// Reasoning that only its producer reads, on its way through clients of another wire: the envelope names the producer, so that no
// other provider gets the content when it comes back (docs/contract.md#responses-answer).
import type { OpaqueReasoning } from '../../providers/shared/wires/answer-events.js';

/** The producer whose answers have opaque parts in the kernel. */
const ORIGIN = 'anthropic';
const ENVELOPE = /^sbx1\.anthropic\.[a-z0-9-]*\.(signature|encrypted)\.([\w-]*)$/;

/** `model`: its id. */
export function sealedReasoning({ kind, text }: OpaqueReasoning, model: string): string {
  const family = model.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `sbx1.${ORIGIN}.${family}.${kind}.${Buffer.from(text).toString('base64url')}`;
}

/** Null: the content is not of this service. */
export function openEnvelope(content: string): OpaqueReasoning | null {
  const [, kind, data] = ENVELOPE.exec(content) ?? [];
  if (kind === undefined || data === undefined) return null;
  return {
    kind: kind === 'signature' ? 'signature' : 'encrypted',
    text: Buffer.from(data, 'base64url').toString(),
  };
}
