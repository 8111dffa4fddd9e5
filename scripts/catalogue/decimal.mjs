// Decimal numbers as text and as whole numbers of 10^-12: no price passes through the arithmetic of doubles.
const MAX_DIGITS = 15;
const SCALE = 12;
const FORM = /^(\d{1,20})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,2}))?$/i;

/**
 * A number or its text as a whole number of 10^-12, times ten to the power of `shift`. A number counts by its shortest decimal form, so
 * that 0.079999999 stays itself. Throws for anything else; digits beyond 10^-12 are rounded up.
 */
export function toPico(written, shift = 0) {
  const text = typeof written === 'number' ? String(written) : written;
  const match = typeof text === 'string' ? FORM.exec(text) : null;
  if (!match) throw new Error(`${JSON.stringify(written)} is not a decimal number that is not negative`);
  const [, whole, fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits.replace(/0+$/, '').length > MAX_DIGITS)
    throw new Error(`${text} has more than ${MAX_DIGITS} digits`);
  const power = SCALE + shift + Number(exponent) - fraction.length;
  if (power >= 0) return BigInt(digits || '0') * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (BigInt(digits || '0') + divisor - 1n) / divisor;
}

/** `0.000375` for 375,000,000. */
export function toText(pico) {
  const text = pico.toString().padStart(SCALE + 1, '0');
  return `${text.slice(0, -SCALE)}.${text.slice(-SCALE)}`.replace(/\.?0+$/, '');
}
