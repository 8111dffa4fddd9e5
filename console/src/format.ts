// How amounts, numbers, times and durations look. Every page formats with these functions.

const LOCALE = 'en-US';
// The decimals of an amount in the service.
const DECIMALS = 12;
// As many digits as the service stores, so that no amount is rounded.
const money = new Intl.NumberFormat(LOCALE, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 20,
});
const moneyShort = new Intl.NumberFormat(LOCALE, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumFractionDigits: 2,
});
const count = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const countShort = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });
const percentExact = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumSignificantDigits: 6 });
const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const hourAndMinute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const utcDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const utcDayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

/** Exact: `$0.00000125`, `$1,250.00`. */
export function formatMoney(usd: number): string {
  // The decimal text of the number, because the formatter would print the digits of the binary fraction.
  return money.format(decimalText(usd) as Intl.StringNumericLiteral);
}

/** For reading: two decimals from $1 on, else three significant digits: `$1.25`, `$0.0525`, `$0.00000125`. */
export const formatAmount = (usd: number): string =>
  Math.abs(usd) >= 1 ? formatMoney(Number(usd.toFixed(2))) : formatMoney(Number(usd.toPrecision(3)));

/** For sums: the service stores twelve decimals, and the sum of two numbers may have more. */
export function roundUsd(usd: number): number {
  return Number(usd.toFixed(DECIMALS));
}

/** For axes of charts only: `$1.2K`. */
export function formatMoneyShort(usd: number): string {
  return Math.abs(usd) < 0.01 && usd !== 0 ? `$${usd.toPrecision(1)}` : moneyShort.format(usd);
}

/** The shortest decimal that reads back as the number, without an exponent. */
export function decimalText(value: number): string {
  const text = String(value);
  const [digits = '', exponent] = text.split('e-');
  if (exponent === undefined) return text;
  const sign = digits.startsWith('-') ? '-' : '';
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${digits.replace(/[-.]/g, '')}`;
}

export const formatCount = (value: number): string => count.format(value);
export const formatCountShort = (value: number): string => countShort.format(value);

/** `1 call`, `1,204 calls`. */
export const formatCountOf = (value: number, noun: string): string =>
  `${formatCount(value)} ${value === 1 ? noun : `${noun}s`}`;

/** A share from 0 to 1 with one decimal: `12.5%`, and `<0.1%` for one that would look like none. */
export const formatPercent = (share: number): string =>
  share > 0 && share < 0.001 ? '<0.1%' : percent.format(share);

/** A share from 0 to 1 that is set, and for axes of charts: `0.25%`, `99.99%`. */
export const formatPercentExact = (share: number): string => percentExact.format(share);

/** `2 min 5 s`, `1 h`: a smaller part of nothing is left out. */
const join = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;

/** `840 ms`, `1.24 s`, `2 min 5 s`, `1 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(minutes, 'min', seconds % 60, 's');
  return minutes < 1440
    ? join(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
    : join(Math.floor(minutes / 1440), 'd', Math.floor(minutes / 60) % 24, 'h');
}

/** In the local zone: `27 Nov, 07:31:05`, with the year unless it is this one. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return `${(isThisYear ? dayOfYear : day).format(date)}, ${timeOfDay.format(date)}`;
}

/** For axes of charts: `07:30`, and `27 Nov` where a day begins or `isDaily`. */
export function formatTick(milliseconds: number, isDaily: boolean): string {
  const date = new Date(milliseconds);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return isDaily || isMidnight ? dayOfYear.format(date) : hourAndMinute.format(date);
}

/** For axes of charts of the days of the service: `27 Nov`. */
export const formatUtcTick = (milliseconds: number): string => utcDayOfYear.format(milliseconds);

/** A day of the service, which counts days in UTC: `27 Nov 2026`. */
export function formatUtcDay(isoDay: string): string {
  return utcDay.format(new Date(isoDay));
}

const utcMonth = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Of a month like `2026-11`: `November 2026`. */
export const formatUtcMonth = (month: string): string => utcMonth.format(new Date(`${month}-01T00:00:00Z`));

/** `2026-11-27 07:31:05 UTC`, for the text on hover. */
export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** `3 minutes ago`, `in 2 hours`, `now` for less than a second. */
export function formatRelative(iso: string, now: number): string {
  const difference = new Date(iso).getTime() - now;
  const found = UNITS.find(([, length]) => Math.abs(difference) >= length);
  if (found === undefined) return 'now';
  const [unit, length] = found;
  return relative.format(Math.trunc(difference / length), unit);
}

/** First and last characters of an id, which the reader recognises. */
export function abbreviate(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 10)}…${id.slice(-4)}`;
}

export const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
