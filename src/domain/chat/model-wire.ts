// The wires in which models are called, in front of this service and behind it (docs/contract.md#model-wires).

export const MODEL_WIRES = ['chat', 'messages'] as const;
export type ModelWire = (typeof MODEL_WIRES)[number];
