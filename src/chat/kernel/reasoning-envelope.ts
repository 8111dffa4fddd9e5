// Reasoning that only its producer reads, on its way through clients of another wire: the envelope names the producer, so that no
// other provider gets the content when it comes back (docs/contract.md#responses-answer).
import type { ReasoningProducer } from '../../domain/chat/reasoning-producer.js';
import { producerOfOrigin } from '../../domain/chat/reasoning-producer.js';
import type { OpaqueReasoning } from '../../providers/shared/wires/answer-events.js';

const ENVELOPE = /^sbx1\.([a-z]+)\.[a-z0-9-]*\.(signature|encrypted)\.([\w-]*)$/;

/** `model`: its id. */
export function sealedReasoning(
  { kind, text }: OpaqueReasoning,
  { origin }: ReasoningProducer,
  model: string,
): string {
  const family = model.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `sbx1.${origin}.${family}.${kind}.${Buffer.from(text).toString('base64url')}`;
}

/** Null: the content is not of this service, or its producer is not known. */
export function openEnvelope(content: string): (OpaqueReasoning & Pick<ReasoningProducer, 'format'>) | null {
  const [, origin, kind, data] = ENVELOPE.exec(content) ?? [];
  const producer = producerOfOrigin(origin);
  if (producer === null || data === undefined) return null;
  return {
    format: producer.format,
    kind: kind === 'signature' ? 'signature' : 'encrypted',
    text: Buffer.from(data, 'base64url').toString(),
  };
}
