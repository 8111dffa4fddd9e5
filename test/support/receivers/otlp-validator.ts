// A validator of OTLP/JSON trace requests that shares nothing with the code under test: a general reader of protobuf JSON
// with the schema beside this file, and the rules that OTLP puts on top of it.
import { fromJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { TRACE_REQUEST } from './otlp-schema.js';

/** Why a request is refused. */
export class OtlpProblem extends Error {}

export type AttributeValue = string | boolean | bigint | number | readonly AttributeValue[];
export type Attributes = ReadonlyMap<string, AttributeValue>;

export interface ValidatedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly resource: Attributes;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly status: { readonly code: number; readonly message: string };
}

type Json = Readonly<Record<string, unknown>>;

/** The spans of a request in their order. Throws `OtlpProblem` for whatever a strict receiver may refuse. */
export function validateTraceRequest(body: Buffer): ValidatedSpan[] {
  const text = decode(body);
  let request: Json;
  try {
    request = JSON.parse(text) as Json;
    // It must read as the message that it says it is; the members are then taken from the JSON that was proved right.
    fromJson(TRACE_REQUEST, prepared(request) as JsonValue);
  } catch (error) {
    throw error instanceof OtlpProblem ? error : new OtlpProblem((error as Error).message, { cause: error });
  }
  const spans = listOf(request['resourceSpans']).flatMap((resourceSpans) => {
    const resource = attributesOf((resourceSpans['resource'] ?? {}) as Json);
    return listOf(resourceSpans['scopeSpans']).flatMap((scopeSpans) =>
      listOf(scopeSpans['spans']).map((span) => validateSpan(span, resource)),
    );
  });
  rejectRepeats(
    spans.map(({ spanId }) => spanId),
    'span id',
  );
  return spans;
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new OtlpProblem('not UTF-8', { cause: error });
  }
}

const ID_DIGITS: Readonly<Record<string, number>> = { traceId: 32, spanId: 16, parentSpanId: 16 };
const ENUMERATIONS = new Set(['kind', 'code']);
const TIMES = /^(?:start|end)?[tT]imeUnixNano$/;

/** The request as general protobuf JSON has it, and the rules that OTLP adds: ids in hex, numbers for enumerations. */
function prepared(value: unknown, name = ''): unknown {
  if (value === null) throw new OtlpProblem(`${name}: null`);
  if (Array.isArray(value)) return value.map((entry: unknown) => prepared(entry, name));
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]: [string, unknown]) => {
        // The names of the protocol's source are not valid here.
        if (key.includes('_')) throw new OtlpProblem(`${key}: not in lowerCamelCase`);
        return [key, prepared(member, key)];
      }),
    );
  }
  const digits = ID_DIGITS[name];
  if (digits !== undefined) return base64Of(name, value, digits);
  if (ENUMERATIONS.has(name) && typeof value !== 'number') throw new OtlpProblem(`${name}: not a number`);
  // A JSON number cannot hold these exactly.
  if (TIMES.test(name) && (typeof value !== 'string' || !/^\d+$/.test(value))) {
    throw new OtlpProblem(`${name}: not a string of digits`);
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new OtlpProblem(`${name}: half a character`);
  return value;
}

function base64Of(name: string, id: unknown, digits: number): string {
  if (typeof id !== 'string' || !new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(id)) {
    throw new OtlpProblem(`${name}: not ${digits} hex digits`);
  }
  if (/^0+$/.test(id)) throw new OtlpProblem(`${name}: all zeros`);
  return Buffer.from(id, 'hex').toString('base64');
}

function validateSpan(span: Json, resource: Attributes): ValidatedSpan {
  const { traceId, spanId, parentSpanId = '', name = '', startTimeUnixNano, endTimeUnixNano } = span;
  if (traceId === undefined || spanId === undefined) throw new OtlpProblem('a span without ids');
  if (name === '') throw new OtlpProblem('a span without a name');
  if (startTimeUnixNano === undefined || endTimeUnixNano === undefined) {
    throw new OtlpProblem('a span without its times');
  }
  if (BigInt(startTimeUnixNano as string) > BigInt(endTimeUnixNano as string)) {
    throw new OtlpProblem('a span that ends before it starts');
  }
  const status = (span['status'] ?? {}) as Json;
  return {
    traceId: traceId as string,
    spanId: spanId as string,
    parentSpanId: parentSpanId as string,
    name: name as string,
    resource,
    attributes: attributesOf(span),
    events: listOf(span['events']).map((event) => ({
      name: event['name'] as string,
      attributes: attributesOf(event),
    })),
    status: { code: (status['code'] ?? 0) as number, message: (status['message'] ?? '') as string },
  };
}

function attributesOf(owner: Json): Attributes {
  const entries = listOf(owner['attributes']).map(
    ({ key, value }) => [key as string, valueOf(value as Json)] as const,
  );
  const names = entries.map(([name]) => name);
  if (names.some((name) => !name)) throw new OtlpProblem('an attribute without a name');
  rejectRepeats(names, 'attribute');
  return new Map(entries);
}

function valueOf(value: Json | undefined): AttributeValue {
  const [kind, content] = Object.entries(value ?? {})[0] ?? [];
  switch (kind) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return content as string | boolean | number;
    case 'intValue':
      return BigInt(content as string);
    case 'arrayValue':
      return listOf((content as Json)['values']).map(valueOf);
    default:
      throw new OtlpProblem(`an attribute with the value ${String(kind)}`);
  }
}

function rejectRepeats(names: readonly string[], what: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new OtlpProblem(`the ${what} ${name} twice`);
    seen.add(name);
  }
}

const listOf = (value: unknown): readonly Json[] => (value ?? []) as readonly Json[];
