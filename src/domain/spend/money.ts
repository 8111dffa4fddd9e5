// Amounts of money as exact integers, so that sums never lose a cent (docs/contract.md#conventions).

/** An amount in units of 10^-12 USD: exact for one token at a millionth of a dollar per million tokens. */
export type PicoUsd = bigint;

const DECIMALS = 12;
const ONE_USD = 10n ** BigInt(DECIMALS);
// Characters of an amount. Longer texts are refused, so that parsing takes bounded time.
const MOST_CHARACTERS = 100;
const MOST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Reads a decimal number of USD ("0.02", "1e-7", -3) exactly.
 * Throws on anything else, on long texts, and on amounts finer than 10^-12.
 */
export function parseUsd(amount: string | number): PicoUsd {
  return parse(amount, 'exactly');
}

function parse(amount: string | number, precision: 'exactly' | 'rounded down'): PicoUsd {
  const text = String(amount);
  if (text.length > MOST_CHARACTERS) throw new RangeError('too long for an amount of money');
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i.exec(text.trim());
  if (!match) throw new RangeError(`not an amount of money: ${amount}`);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const shift = DECIMALS - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (precision === 'exactly' && shift < 0 && digits % scale !== 0n)
    throw new RangeError(`finer than 10^-${DECIMALS} USD: ${amount}`);
  const value = shift < 0 ? digits / scale : digits * scale;
  return sign === '-' ? -value : value;
}

/** Accepts any precision: loses nothing of a bound, because the compared prices are whole. Throws on invalid amounts. */
export function parseUsdRoundedDown(amount: string | number): PicoUsd {
  return parse(amount, 'rounded down');
}

/**
 * Converts USD per million tokens, as price lists have it, to the price of one token, rounded down to whole 10^-12 USD.
 * Rounding loses nothing of a bound, because the compared prices are whole. Accepts any precision: 0.1 * 3 is
 * 0.30000000000000004. Throws on invalid amounts.
 */
export function parseUsdPerMillion(amount: string | number): PicoUsd {
  return parseUsdRoundedDown(amount) / 1_000_000n;
}

/** The shortest decimal notation, for the database: "0.00000002", "12.5", "0". */
export function formatUsd(amount: PicoUsd): string {
  const sign = amount < 0n ? '-' : '';
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % ONE_USD).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${sign}${absolute / ONE_USD}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The JSON number of the wire: the nearest double to the exact amount. */
export function usdToNumber(amount: PicoUsd): number {
  // Both operands are exact doubles, and the quotient is rounded once: the same number without an intermediate text.
  if (amount <= MOST_EXACT && amount >= -MOST_EXACT) return Number(amount) / Number(ONE_USD);
  return Number(formatUsd(amount));
}

/** Null is an amount that is not known. */
export function usdOrNull(amount: PicoUsd | null): number | null {
  return amount === null ? null : usdToNumber(amount);
}

// Null is an amount that is not known.

export function add(sum: PicoUsd | null, amount: PicoUsd | null): PicoUsd | null {
  return sum === null || amount === null ? null : sum + amount;
}

/** The smaller of both; a negative bound counts as 0. */
export function atMost(amount: PicoUsd | null, most: PicoUsd | null): PicoUsd | null {
  if (amount === null || most === null) return amount;
  const bound = most > 0n ? most : 0n;
  return amount < bound ? amount : bound;
}

export function difference(more: PicoUsd | null, less: PicoUsd | null): PicoUsd | null {
  return more === null || less === null ? null : more - less;
}
