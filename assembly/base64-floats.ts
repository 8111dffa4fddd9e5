// Judges base64 of float32 values, 16 characters at a time: they are 12 bytes, and so three whole values.
import { TEXT } from './text';

/**
 * By the upper half of a character its kind, as a bit: `+` and `/`; digits; letters whose lower half is 1 to 15; letters
 * whose lower half is 0 to 10; none of base64.
 */
const KINDS = i8x16(16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16);

/** By the lower half of a character the kinds that have none with it. */
const OTHER_KINDS = i8x16(21, 17, 17, 17, 17, 17, 17, 17, 17, 17, 19, 26, 27, 27, 27, 26);

const SLASH: i8 = 0x2f;

/** What turns a character into its six bits, by its upper half; for `/`, which shares that with `+`, by one less. */
const DISTANCES = i8x16(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);

/** Of four numbers of three bytes these bytes, the highest first; the fourth value stays 0. */
const THREE_VALUES = i8x16(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 16, 16, 16, 16);

/** Of a float32; only infinities and NaN have them all set. */
const EXPONENT_BITS: i32 = 0x7f800000;

/** Whether the text at TEXT is base64, without padding, of finite values. Its length is a multiple of 16. */
export function areFinite(length: i32): bool {
  const end: usize = TEXT + length;
  let unknown = i8x16.splat(0);
  let endless = i32x4.splat(0);
  for (let at: usize = TEXT; at < end; at += 16) {
    const text = v128.load(at);
    const upper = v128.and(i16x8.shr_u(text, 4), i8x16.splat(0x0f));
    const lower = v128.and(text, i8x16.splat(0x0f));
    unknown = v128.or(unknown, v128.and(i8x16.swizzle(KINDS, upper), i8x16.swizzle(OTHER_KINDS, lower)));
    // Where two bytes are equal, -1 stands.
    const isSlash = i8x16.eq(text, i8x16.splat(SLASH));
    const sixes = i8x16.add(text, i8x16.swizzle(DISTANCES, i8x16.add(upper, isSlash)));
    // The first character's bits are the highest: two times six bits are put together, and then two times twelve.
    const twelves = v128.or(i16x8.shl(v128.and(sixes, i16x8.splat(0x3f)), 6), i16x8.shr_u(sixes, 8));
    const threeBytes = i32x4.dot_i16x8_s(twelves, i16x8(4096, 1, 4096, 1, 4096, 1, 4096, 1));
    const exponents = v128.and(i8x16.swizzle(threeBytes, THREE_VALUES), i32x4.splat(EXPONENT_BITS));
    endless = v128.or(endless, i32x4.eq(exponents, i32x4.splat(EXPONENT_BITS)));
  }
  return !v128.any_true(unknown) && !v128.any_true(endless);
}
