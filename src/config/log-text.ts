// A line of the log as text for a terminal: time, level, context, message, then the other members.

interface Line {
  readonly level: string;
  readonly time: string;
  readonly pid: number;
  readonly context?: string;
  readonly error?: unknown;
  readonly msg?: string;
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

const LEVEL_WIDTH = 5;
/** Shown without quotes. */
const PLAIN = /^[\w.:/@+-]+$/;

/** `line` is a JSON object that ends with a line break, and so does the text. An error takes several lines. */
export function toText(line: string): string {
  const { level, time, pid: _pid, context, error, msg = '', ...members } = JSON.parse(line) as Line;
  const whose = context === undefined ? '' : `${context}: `;
  const rest = Object.entries(members).map(([name, value]) => ` ${name}=${valueText(value)}`);
  const text = printable(`${localTime(time)} ${level.toUpperCase().padEnd(LEVEL_WIDTH)} ${whose}${msg}`);
  return `${text}${rest.join('')}${error === undefined ? '' : errorText(error)}\n`;
}

/** In the time zone of the terminal: `2026-05-01 14:03:04`. The Swedish form is that of ISO. */
function localTime(time: string): string {
  return new Date(time).toLocaleString('sv-SE');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : printable(JSON.stringify(value));
}

function errorText(error: unknown): string {
  if (!isDescribed(error)) return `\n  ${valueText(error)}`;
  const { type, message, code, stack = '', cause } = error;
  const title = `${type}: ${message}${code === undefined ? '' : ` (${code})`}`;
  const frames = stack === '' ? '' : `\n${stack}`;
  return `\n  ${printable(title)}${frames}${cause === undefined ? '' : `\n  caused by${errorText(cause)}`}`;
}

function isDescribed(error: unknown): error is DescribedError {
  return typeof error === 'object' && error !== null && 'type' in error && 'message' in error;
}

/** A text of a caller or a server must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}
