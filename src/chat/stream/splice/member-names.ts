// The members that the relay looks at, as small numbers: comparing bytes takes less than building a string per name.

const NAMES = [
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'usage',
  'error',
  'system_fingerprint',
  'service_tier',
  'openrouter_metadata',
  'index',
  'delta',
  'message',
  'finish_reason',
  'native_finish_reason',
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'audio',
  'function',
  'arguments',
] as const;

export type MemberName = (typeof NAMES)[number];

interface KnownName {
  readonly name: MemberName;
  readonly bytes: Buffer;
}

const BY_KEY = new Map<number, KnownName[]>();
for (const name of NAMES) {
  const bytes = Buffer.from(name);
  const key = keyOf(bytes, 0, bytes.length);
  BY_KEY.set(key, [...(BY_KEY.get(key) ?? []), { name, bytes }]);
}

/** The name whose text is bytes[from, to), without its quotes; null for one that the relay does not know. */
export function memberName(bytes: Buffer, from: number, to: number): MemberName | null {
  const candidates = BY_KEY.get(keyOf(bytes, from, to));
  if (candidates) {
    for (const { name, bytes: known } of candidates) if (isEqual(bytes, from, known)) return name;
  }
  // An escape can spell a known name.
  for (let at = from; at < to; at++) if (bytes[at] === 0x5c) return spelled(bytes, from, to);
  return null;
}

function spelled(bytes: Buffer, from: number, to: number): MemberName | null {
  const text: unknown = JSON.parse(`"${bytes.toString('utf8', from, to)}"`);
  return NAMES.find((name) => name === text) ?? null;
}

function keyOf(bytes: Buffer, from: number, to: number): number {
  return ((to - from) << 8) | (bytes[from] ?? 0);
}

function isEqual(bytes: Buffer, from: number, known: Buffer): boolean {
  for (let at = 1; at < known.length; at++) if (bytes[from + at] !== known[at]) return false;
  return true;
}
