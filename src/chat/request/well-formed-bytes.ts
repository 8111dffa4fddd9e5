// Half a surrogate pair in JSON text becomes U+FFFD: providers reject or replace it, and one in an early message would block
// the conversation for ever.

const LONE = Buffer.from('ufffd');
const BACKSLASH = 0x5c;
const U = 0x75;
/** Bytes of `\uXXXX`. */
const ESCAPE = 6;

/** Replaces in place, since both escapes have the same length. Returns whether there was one. `json` is valid. */
export function replaceLoneSurrogates(json: Buffer): boolean {
  let isReplaced = false;
  // Backslashes are in strings only, where each begins an escape.
  for (let at = json.indexOf(BACKSLASH); at !== -1; at = nextBackslash(json, at)) {
    const unit = unitAt(json, at);
    if (unit === null) at += 2;
    else if (isHigh(unit) && isLow(unitAt(json, at + ESCAPE))) at += 2 * ESCAPE;
    else {
      if (isHigh(unit) || isLow(unit)) {
        LONE.copy(json, at + 1);
        isReplaced = true;
      }
      at += ESCAPE;
    }
  }
  return isReplaced;
}

function nextBackslash(json: Buffer, from: number): number {
  return json[from] === BACKSLASH ? from : json.indexOf(BACKSLASH, from);
}

/** Null: no escape of a unit begins here. */
function unitAt(json: Buffer, at: number): number | null {
  if (json[at] !== BACKSLASH || json[at + 1] !== U) return null;
  let unit = 0;
  for (let digit = at + 2; digit < at + ESCAPE; digit++) {
    const code = json[digit] ?? 0;
    // Letters of both cases have their value in the low bits.
    unit = unit * 16 + (code <= 0x39 ? code & 0xf : (code & 0xf) + 9);
  }
  return unit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number | null): boolean {
  return unit !== null && unit >= 0xdc00 && unit <= 0xdfff;
}
