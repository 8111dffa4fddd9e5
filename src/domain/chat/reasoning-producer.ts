// The producers of reasoning that only they read: signed, or encrypted (docs/contract.md#responses-answer).
import type { ProviderWire } from './model-wire.js';

export interface ReasoningProducer {
  /** In the envelopes of this service. */
  readonly origin: string;
  /** In `reasoning_details`: OpenRouter's names where it has one. */
  readonly format: string;
}

export const ANTHROPIC_FORMAT = 'anthropic-claude-v1';
export const GEMINI_FORMAT = 'google-gemini-v1';
export const OPENAI_FORMAT = 'openai-responses-v1';
export const BEDROCK_FORMAT = 'amazon-bedrock-v1';

/** By the wire behind; null: it has no such reasoning, or one of each provider's own. */
const PRODUCERS: Readonly<Record<ProviderWire, ReasoningProducer | null>> = {
  chat: null,
  messages: { origin: 'anthropic', format: ANTHROPIC_FORMAT },
  converse: { origin: 'bedrock', format: BEDROCK_FORMAT },
  gemini: { origin: 'gemini', format: GEMINI_FORMAT },
  responses: { origin: 'openai', format: OPENAI_FORMAT },
};

export function producerBehind(wire: ProviderWire): ReasoningProducer | null {
  return PRODUCERS[wire];
}

export function producerOfOrigin(origin: string | undefined): ReasoningProducer | null {
  return Object.values(PRODUCERS).find((producer) => producer?.origin === origin) ?? null;
}

export function isProducersFormat(format: unknown): format is string {
  return Object.values(PRODUCERS).some((producer) => producer?.format === format);
}
