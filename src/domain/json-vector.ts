// Judges the text of a JSON vector in one pass over its bytes, without making numbers of them. The grammar of a JSON
// array of numbers stands as a table of states, with a place for every byte: one look for each.

const BROKEN = 0;
const BEFORE = 1;
const AFTER_MINUS = 2;
const AFTER_ZERO = 3;
const AFTER_DOT = 4;
const IN_FRACTION = 5;
const AFTER_EXPONENT = 6;
const AFTER_EXPONENT_SIGN = 7;
const IN_EXPONENT = 8;
const AFTER = 9;
// From here on: so many digits before the point, and no more. float32 holds all of them, where no exponent makes them
// larger; the few numbers that are written otherwise are judged by their values.
const IN_WHOLE = 10;
const WHOLE_DIGITS = 9;

const ONE_TO_NINE = '123456789';
const DIGITS = `0${ONE_TO_NINE}`;
const SPACE = ' \t\n\r';
const COMMA = 0x2c;

const wholes = Array.from({ length: WHOLE_DIGITS }, (_, index) => IN_WHOLE + index);
const COMPLETE = [AFTER_ZERO, ...wholes, IN_FRACTION, IN_EXPONENT, AFTER];
const FOLLOWS: readonly (readonly [states: readonly number[], characters: string, next: number])[] = [
  [[BEFORE], SPACE, BEFORE],
  [[BEFORE], '-', AFTER_MINUS],
  [[BEFORE, AFTER_MINUS], '0', AFTER_ZERO],
  [[BEFORE, AFTER_MINUS], ONE_TO_NINE, IN_WHOLE],
  ...wholes.slice(0, -1).map((state) => [[state], DIGITS, state + 1] as const),
  [[AFTER_ZERO, ...wholes], '.', AFTER_DOT],
  [[AFTER_DOT, IN_FRACTION], DIGITS, IN_FRACTION],
  [[AFTER_ZERO, ...wholes, IN_FRACTION], 'eE', AFTER_EXPONENT],
  [[AFTER_EXPONENT], '-', AFTER_EXPONENT_SIGN],
  [[AFTER_EXPONENT_SIGN, IN_EXPONENT], DIGITS, IN_EXPONENT],
  [COMPLETE, SPACE, AFTER],
  [COMPLETE, ',', BEFORE],
];
/** By a state's place in the table, which is 256 times its number, and a byte. */
const NEXT_PLACE = new Uint16Array((IN_WHOLE + WHOLE_DIGITS) << 8).fill(BROKEN);
for (const [states, characters, next] of FOLLOWS) {
  for (const state of states)
    for (const byte of Buffer.from(characters)) NEXT_PLACE[(state << 8) | byte] = next << 8;
}
const IS_COMMA = new Uint8Array(256);
IS_COMMA[COMMA] = 1;

/** How many numbers the text holds, or null when it is not a JSON array of numbers that float32 can hold. */
export function widthOfJsonVector(text: Buffer): number | null {
  if (!isInBrackets(text)) return null;
  const end = text.length - 1;
  let place = BEFORE << 8;
  let commas = 0;
  for (let at = 1; at < end; at++) {
    const byte = text[at] as number;
    place = NEXT_PLACE[place | byte] as number;
    commas += IS_COMMA[byte] as number;
  }
  return COMPLETE.includes(place >> 8) ? commas + 1 : widthByValues(text);
}

function widthByValues(text: Buffer): number | null {
  const values = valuesOfJsonVector(text);
  return values && isFiniteVector(values) ? values.length : null;
}

/** The numbers as float32 has them, infinite ones included; null when the text is not a JSON array of numbers. */
export function valuesOfJsonVector(text: Buffer): Float32Array | null {
  if (!isInBrackets(text)) return null;
  try {
    const values = JSON.parse(text.toString('latin1')) as unknown[];
    return values.every((value) => typeof value === 'number') ? Float32Array.from(values) : null;
  } catch {
    return null;
  }
}

function isInBrackets(text: Buffer): boolean {
  return text[0] === 0x5b && text.at(-1) === 0x5d;
}

// Of a float32: its exponent, and the least that can be added to one of all ones to reach the sign.
const EXPONENT_BITS = 0x7f800000;
const LEAST_EXPONENT = 0x00800000;

/** Only infinities and NaN have all eight exponent bits set. */
export function isFiniteVector(values: Float32Array): boolean {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const { length } = bits;
  // Four at a time, and without a branch for each: this looks at every number that passes through.
  let sums = 0;
  let at = 0;
  for (; at + 3 < length; at += 4)
    sums |= sumAt(bits, at) | sumAt(bits, at + 1) | sumAt(bits, at + 2) | sumAt(bits, at + 3);
  for (; at < length; at++) sums |= sumAt(bits, at);
  return sums >= 0;
}

/** Negative where all bits of the exponent are set. */
function sumAt(bits: Int32Array, at: number): number {
  return (((bits[at] as number) & EXPONENT_BITS) + LEAST_EXPONENT) | 0;
}
