// The values of OTLP attributes as JSON has them: the member names the type, and a 64-bit integer is text.

export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

export interface Attribute {
  readonly key: string;
  readonly value: AnyValue;
}

/** Null is what is not known: no attribute is written for it. */
export function text(value: string | null): AnyValue | null {
  return value === null ? null : { stringValue: value };
}

export function flag(value: boolean): AnyValue {
  return { boolValue: value };
}

export function integer(value: number | null): AnyValue | null {
  return value === null ? null : { intValue: String(value) };
}

/** Always a double, so that an amount has one type at the receiver, whether or not it is a whole number. */
export function decimal(value: number | null): AnyValue | null {
  return value === null ? null : { doubleValue: value };
}

export function texts(values: readonly string[]): AnyValue | null {
  return values.length === 0
    ? null
    : { arrayValue: { values: values.map((value) => ({ stringValue: value })) } };
}

/** A value of the caller's: scalars as they are, anything else as its JSON text. */
export function anyValueOf(value: unknown): AnyValue | null {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      if (Number.isSafeInteger(value)) return integer(value);
      return Number.isFinite(value) ? { doubleValue: value } : null;
    default:
      return value === null || value === undefined ? null : text(JSON.stringify(value));
  }
}
