// Checks base64 of float32 values, 16 characters at a time: they are 12 bytes, and so three whole values.
import { TEXT } from './text';

/**
 * The kind of a character by its upper half, as a bit: `+` and `/`; digits; letters whose lower half is 1 to 15; letters
 * whose lower half is 0 to 10; not base64.
 */
const KINDS = i8x16(16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16);

/** The kinds that no character with this lower half has. */
const OTHER_KINDS = i8x16(21, 17, 17, 17, 17, 17, 17, 17, 17, 17, 19, 26, 27, 27, 27, 26);

const SLASH: i8 = 0x2f;

/**
 * The difference between a character and its six bits, by its upper half; for `/`, which shares that with `+`, by one
 * less.
 */
const DISTANCES = i8x16(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);

/**
 * Where the exponents of the three values lie among sixteen times six bits: only infinities and NaN have them all set.
 * The first value's are in the first eight characters, the second's in the next four, the third's in the last four.
 */
const EXPONENTS = i8x16(0, 0, 0x02, 0, 0x1f, 0x30, 0, 0, 0x20, 0x07, 0x3c, 0, 0, 0x08, 0x01, 0x3f);

/** Whether the text at TEXT is base64, without padding, of finite values. Its length is a multiple of 16. */
export function areFinite(length: i32): bool {
  const end: usize = TEXT + length;
  let unknown = i8x16.splat(0);
  let endlessOfEight = i64x2.splat(0);
  let endlessOfFour = i32x4.splat(0);
  for (let at: usize = TEXT; at < end; at += 16) {
    const text = v128.load(at);
    const upper = v128.and(i16x8.shr_u(text, 4), i8x16.splat(0x0f));
    const lower = v128.and(text, i8x16.splat(0x0f));
    unknown = v128.or(unknown, v128.and(i8x16.swizzle(KINDS, upper), i8x16.swizzle(OTHER_KINDS, lower)));
    // Where two are equal, -1 stands.
    const isSlash = i8x16.eq(text, i8x16.splat(SLASH));
    const sixes = i8x16.add(text, i8x16.swizzle(DISTANCES, i8x16.add(upper, isSlash)));
    const exponents = v128.and(sixes, EXPONENTS);
    endlessOfEight = v128.or(endlessOfEight, i64x2.eq(exponents, EXPONENTS));
    endlessOfFour = v128.or(endlessOfFour, i32x4.eq(exponents, EXPONENTS));
  }
  const isEndless =
    i64x2.extract_lane(endlessOfEight, 0) |
    i32x4.extract_lane(endlessOfFour, 2) |
    i32x4.extract_lane(endlessOfFour, 3);
  return !v128.any_true(unknown) && isEndless === 0;
}
