// Checks the text of a JSON array of numbers, 64 bytes at a time: each class of bytes is a mask of 64 bits, and the grammar
// is a handful of operations on whole masks.
import { TEXT } from './text';

// In ASCII.
const TAB: i8 = 0x09;
const LINE_FEED: i8 = 0x0a;
const CARRIAGE_RETURN: i8 = 0x0d;
const SPACE: i8 = 0x20;
const COMMA: i8 = 0x2c;
const MINUS: i8 = 0x2d;
const POINT: i8 = 0x2e;
const ZERO: i8 = 0x30;
const LOWER_E: i8 = 0x65;
const LOWER_CASE: i8 = 0x20;

/** float32 holds all numbers with so many digits before the point and no positive exponent. */
const WHOLE_DIGITS = 9;

function maskOf(one: v128, two: v128, three: v128, four: v128): u64 {
  const low = i8x16.bitmask(one) | (i8x16.bitmask(two) << 16);
  const high = i8x16.bitmask(three) | (i8x16.bitmask(four) << 16);
  return (<u64>(<u32>low)) | ((<u64>(<u32>high)) << 32);
}

function maskOfByte(byte: i8, one: v128, two: v128, three: v128, four: v128): u64 {
  const wanted = i8x16.splat(byte);
  return maskOf(
    i8x16.eq(one, wanted),
    i8x16.eq(two, wanted),
    i8x16.eq(three, wanted),
    i8x16.eq(four, wanted),
  );
}

function isDigit(bytes: v128): v128 {
  return i8x16.le_u(i8x16.sub(bytes, i8x16.splat(ZERO)), i8x16.splat(9));
}

function isExponent(bytes: v128): v128 {
  return i8x16.eq(v128.or(bytes, i8x16.splat(LOWER_CASE)), i8x16.splat(LOWER_E));
}

/** The bytes behind those of the mask; `before` is the mask of the 64 bytes before. */
function behind(mask: u64, before: u64): u64 {
  return (mask << 1) | (before >> 63);
}

/**
 * Counts the numbers in the text at TEXT, which is an array without its brackets. Returns -1 for any other text, and for
 * one whose values must be checked: with spaces before a comma or a bracket, an exponent that is not negative, more than
 * nine digits before the point, or no number at all. Reads up to 63 bytes behind the text.
 */
export function countNumbers(length: i32): i32 {
  const end: usize = TEXT + length;
  // As if a comma preceded the text.
  let separatorsBefore: u64 = (<u64>1) << 63;
  let digitsBefore: u64 = 0;
  let pointsBefore: u64 = 0;
  let minusesBefore: u64 = 0;
  let exponentsBefore: u64 = 0;
  let exponentSignsBefore: u64 = 0;
  let leadingZerosBefore: u64 = 0;
  // Whether a run of digits goes on from the 64 bytes before: one behind a point, and one of an exponent.
  let isInFraction: u64 = 0;
  let isInPower: u64 = 0;
  // One bit for each number of digits before the point that a number at the end of the 64 bytes before may have had.
  let wholeDigitsBefore: u32 = 0;
  let numbers: i32 = 1;
  for (let at: usize = TEXT; at < end; at += 64) {
    const left = end - at;
    const text: u64 = left >= 64 ? u64.MAX_VALUE : ((<u64>1) << left) - 1;
    const one = v128.load(at);
    const two = v128.load(at, 16);
    const three = v128.load(at, 32);
    const four = v128.load(at, 48);
    const digits = maskOf(isDigit(one), isDigit(two), isDigit(three), isDigit(four)) & text;
    const exponents = maskOf(isExponent(one), isExponent(two), isExponent(three), isExponent(four)) & text;
    const commas = maskOfByte(COMMA, one, two, three, four) & text;
    const points = maskOfByte(POINT, one, two, three, four) & text;
    const minuses = maskOfByte(MINUS, one, two, three, four) & text;
    const spaces = text & ~(digits | exponents | commas | points | minuses);
    if (spaces !== 0) {
      const known =
        maskOfByte(SPACE, one, two, three, four) |
        maskOfByte(LINE_FEED, one, two, three, four) |
        maskOfByte(CARRIAGE_RETURN, one, two, three, four) |
        maskOfByte(TAB, one, two, three, four);
      if ((spaces & ~known) !== 0) return -1;
    }
    const separators = commas | spaces;

    const afterDigit = behind(digits, digitsBefore);
    const afterSeparator = behind(separators, separatorsBefore);
    const afterPoint = behind(points, pointsBefore);
    const afterMinus = behind(minuses, minusesBefore);
    const afterExponent = behind(exponents, exponentsBefore);
    const exponentSigns = minuses & afterExponent;
    const afterExponentSign = behind(exponentSigns, exponentSignsBefore);
    // Where a run of digits begins, and of which of the three parts of a number.
    const runs = digits & ~afterDigit;
    const wholes = runs & ~afterPoint & ~afterExponentSign;
    const fractions = runs & afterPoint;
    const powers = runs & afterExponentSign;
    const leadingZeros = wholes & maskOfByte(ZERO, one, two, three, four);

    let wrong =
      ((points | exponents | commas) & ~afterDigit) |
      (minuses & ~(afterSeparator | afterExponent)) |
      (spaces & ~afterSeparator) |
      (text & (afterPoint | afterMinus) & ~digits) |
      (text & afterExponent & ~minuses) |
      (digits & behind(leadingZeros, leadingZerosBefore));
    // A bit that is added where a run begins is carried to the first byte behind it.
    const behindFractions = fractions + digits;
    const fractionsEnd = behindFractions + isInFraction;
    wrong |= fractionsEnd & ~digits & points;
    const behindPowers = powers + digits;
    const powersEnd = behindPowers + isInPower;
    wrong |= powersEnd & ~digits & (points | exponents);
    if (wrong !== 0) return -1;
    isInFraction = u64(behindFractions < digits || fractionsEnd < behindFractions);
    isInPower = u64(behindPowers < digits || powersEnd < behindPowers);

    // Most numbers of vectors have a single digit before the point.
    const hasLongWholes = ((wholes << 1) & digits) !== 0 || wholes >> 63 !== 0 || wholeDigitsBefore !== 0;
    if (hasLongWholes) {
      let places = wholes;
      let placesAtEnd: u32 = 0;
      for (let place = 0; place < WHOLE_DIGITS; place++) {
        placesAtEnd |= (<u32>(places >> 63)) << place;
        places = ((places << 1) | ((wholeDigitsBefore >> place) & 1)) & digits;
      }
      if (places !== 0) return -1;
      wholeDigitsBefore = placesAtEnd;
    }

    numbers += <i32>popcnt(commas);
    separatorsBefore = separators;
    digitsBefore = digits;
    pointsBefore = points;
    minusesBefore = minuses;
    exponentsBefore = exponents;
    exponentSignsBefore = exponentSigns;
    leadingZerosBefore = leadingZeros;
  }
  const endsWithDigit = ((digitsBefore >> ((length - 1) & 63)) & 1) !== 0;
  return endsWithDigit ? numbers : -1;
}
