// The wires in which models are called, in front of this service and behind it (docs/contract.md#model-wires).

/** In front. */
export const MODEL_WIRES = ['chat', 'messages', 'responses'] as const;
export type ModelWire = (typeof MODEL_WIRES)[number];
/** Behind. */
export const PROVIDER_WIRES = [...MODEL_WIRES, 'gemini', 'converse'] as const;
export type ProviderWire = (typeof PROVIDER_WIRES)[number];
