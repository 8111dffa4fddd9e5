// Judges the text of a JSON vector in one pass over its bytes, without making numbers of them. The grammar of a JSON
// array of numbers stands as a table: rows are states, columns are classes of bytes.

const OTHER = 0;
const SPACE = 1;
const DIGIT = 2;
const ZERO = 3;
const MINUS = 4;
const PLUS = 5;
const DOT = 6;
const EXPONENT = 7;
const COMMA = 8;
const CLASSES = 9;
const CLASS_OF_BYTE = new Uint8Array(256).fill(OTHER);
for (const [characters, byteClass] of [
  [' \t\n\r', SPACE],
  ['123456789', DIGIT],
  ['0', ZERO],
  ['-', MINUS],
  ['+', PLUS],
  ['.', DOT],
  ['eE', EXPONENT],
  [',', COMMA],
] as const) {
  for (const character of characters) CLASS_OF_BYTE[character.charCodeAt(0)] = byteClass;
}

const BROKEN = 0;
const BEFORE = 1;
const AFTER_MINUS = 2;
const AFTER_ZERO = 3;
const IN_WHOLE = 4;
const AFTER_DOT = 5;
const IN_FRACTION = 6;
const AFTER_EXPONENT = 7;
const AFTER_EXPONENT_SIGN = 8;
const IN_EXPONENT = 9;
const AFTER = 10;
const STATES = 11;
const NEXT_STATE = new Uint8Array(STATES * CLASSES);
const FOLLOWS: readonly (readonly [state: number, byteClass: number, next: number])[] = [
  [BEFORE, SPACE, BEFORE],
  [BEFORE, MINUS, AFTER_MINUS],
  ...[BEFORE, AFTER_MINUS].flatMap((state) => [
    [state, ZERO, AFTER_ZERO] as const,
    [state, DIGIT, IN_WHOLE] as const,
  ]),
  ...[DIGIT, ZERO].flatMap((digit) => [
    [IN_WHOLE, digit, IN_WHOLE] as const,
    [AFTER_DOT, digit, IN_FRACTION] as const,
    [IN_FRACTION, digit, IN_FRACTION] as const,
    [AFTER_EXPONENT, digit, IN_EXPONENT] as const,
    [AFTER_EXPONENT_SIGN, digit, IN_EXPONENT] as const,
    [IN_EXPONENT, digit, IN_EXPONENT] as const,
  ]),
  ...[AFTER_ZERO, IN_WHOLE].map((state) => [state, DOT, AFTER_DOT] as const),
  ...[AFTER_ZERO, IN_WHOLE, IN_FRACTION].map((state) => [state, EXPONENT, AFTER_EXPONENT] as const),
  [AFTER_EXPONENT, MINUS, AFTER_EXPONENT_SIGN],
  [AFTER_EXPONENT, PLUS, AFTER_EXPONENT_SIGN],
  ...[AFTER_ZERO, IN_WHOLE, IN_FRACTION, IN_EXPONENT, AFTER].flatMap((state) => [
    [state, SPACE, AFTER] as const,
    [state, COMMA, BEFORE] as const,
  ]),
];
for (const [state, byteClass, next] of FOLLOWS) NEXT_STATE[state * CLASSES + byteClass] = next;
const COMPLETE: ReadonlySet<number> = new Set([AFTER_ZERO, IN_WHOLE, IN_FRACTION, IN_EXPONENT, AFTER]);

// float32 ends near 3.4e38: a shorter number without a positive exponent cannot be too large for it.
const SAFE_WHOLE_DIGITS = 38;

/** How many numbers the text holds, or null when it is not a JSON array of numbers that float32 can hold. */
export function widthOfJsonVector(text: Buffer): number | null {
  const end = text.length - 1;
  if (text[0] !== 0x5b || text[end] !== 0x5d) return null;
  let state = BEFORE;
  let commas = 0;
  let wholeDigits = 0;
  let mayBeTooLarge = false;
  for (let at = 1; at < end; at++) {
    const byteClass = CLASS_OF_BYTE[text[at] as number] as number;
    const next = NEXT_STATE[state * CLASSES + byteClass] as number;
    if (next === BROKEN) return null;
    if (byteClass === COMMA) commas++;
    if (next === IN_WHOLE) {
      wholeDigits = state === IN_WHOLE ? wholeDigits + 1 : 1;
      if (wholeDigits > SAFE_WHOLE_DIGITS) mayBeTooLarge = true;
    } else if (state === AFTER_EXPONENT && byteClass !== MINUS) {
      mayBeTooLarge = true;
    }
    state = next;
  }
  if (state === BEFORE && commas === 0) return 0;
  if (!COMPLETE.has(state)) return null;
  if (mayBeTooLarge) {
    const values = Float32Array.from(JSON.parse(text.toString('latin1')) as number[]);
    if (!isFiniteVector(values)) return null;
  }
  return commas + 1;
}

/** Only infinities and NaN have all eight exponent bits set. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  // Not for..of: on typed arrays it is several times slower.
  for (let index = 0; index < bits.length; index++)
    if (((bits[index] ?? 0) & 0x7f800000) === 0x7f800000) return false;
  return true;
}
