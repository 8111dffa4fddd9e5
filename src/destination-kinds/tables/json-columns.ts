// The values of the JSON columns.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { GEN_AI_ATTRIBUTES, OWN_METADATA } from '../otlp/attributes.js';
import type { AnyValue } from '../otlp/any-value.js';
import { outputSummary } from '../shared/trace-json.js';

type Members = Readonly<Record<string, unknown>>;

const ATTRIBUTES = [
  ...Object.entries(GEN_AI_ATTRIBUTES),
  ...Object.entries(OWN_METADATA).map(([name, valueOf]) => [`openrouter.${name}`, valueOf] as const),
];

/** The attributes of an OpenTelemetry span, without those that hold text of the caller. */
export function attributesOf(trace: GenerationTrace): Members {
  const attributes: Record<string, unknown> = {};
  for (const [name, valueOf] of ATTRIBUTES) {
    const value = valueOf(trace, null);
    if (value !== null) attributes[name] = plainValue(value);
  }
  return attributes;
}

function plainValue(value: AnyValue): unknown {
  if ('intValue' in value) return Number(value.intValue);
  if ('arrayValue' in value) return value.arrayValue.values.map(plainValue);
  return Object.values(value)[0];
}

/** The caller's own keys and names, and the facts of the destination's flags. */
export function metadataOf({ metadata, traceName, spanName, facts }: GenerationTrace): Members {
  return {
    ...metadata,
    ...(traceName === null ? {} : { trace_name: traceName }),
    span_name: spanName,
    ...(Object.keys(facts).length === 0 ? {} : { openrouter_generation: facts }),
  };
}

export function parametersOf({ encodingFormat, inputType }: GenerationTrace): Members {
  return { encoding_format: encodingFormat, ...(inputType === null ? {} : { input_type: inputType }) };
}

export function inputOf({ input }: GenerationTrace): Members | null {
  if (input === null) return null;
  return { input: input.items, ...(input.isTruncated ? { truncated: true } : {}) };
}

/** The number and width of the vectors, or the error. Never the vectors themselves. */
export function outputOf(trace: GenerationTrace): object {
  return outputSummary(trace) ?? { error: trace.error };
}
