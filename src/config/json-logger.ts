// The log: one JSON object a line. Errors are written with what helps to find them and nothing that a caller sent.
//
// pino writes the lines and does not put them together: it does that member by member, and every call has a line
// (docs/decisions/0009-hot-path.md).
import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { DestinationStream, Level } from 'pino';
import type { AppConfig } from './app-config.js';
import { openStandardOutput } from './standard-output.js';

const MAX_MESSAGE_LENGTH = 500;
// Nest tells of every route and module at each start: worth reading only when something is sought.
const TALKATIVE_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
]);

/** Whether a line of this level is written at all: what is not need not be put together either. */
export function isLogged(level: Level, threshold: AppConfig['logLevel']): boolean {
  return (pino.levels.values[level] ?? 0) >= (pino.levels.values[threshold] ?? Infinity);
}

export class JsonLogger implements LoggerService {
  /** `destination` takes the lines; by default they go to the standard output. */
  constructor(
    private readonly config: Pick<AppConfig, 'logLevel'>,
    private readonly destination: DestinationStream = openStandardOutput(),
  ) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(TALKATIVE_CONTEXTS.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest hands over the message, or an object and then the message, and last the name of who logs. */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    if (!isLogged(level, this.config.logLevel)) return;
    const time = new Date().toISOString();
    const context = contextOf(message, rest.at(-1));
    const whose = context === undefined ? '' : `,"context":${JSON.stringify(context)}`;
    const members = typeof message === 'object' && message !== null ? membersOf(message) : '';
    const text = JSON.stringify(textOf(message, rest[0]));
    this.destination.write(
      `{"level":"${level}","time":"${time}","pid":${process.pid}${whose}${members},"msg":${text}}\n`,
    );
  }
}

/** Where nobody is named, Nest hands over an error's stack in that place, and so all of its message. */
function contextOf(message: unknown, last: unknown): string | undefined {
  if (typeof last !== 'string' || last.includes('\n')) return undefined;
  return message instanceof Error && message.stack === last ? undefined : last;
}

function textOf(message: unknown, next: unknown): string {
  if (message instanceof Error) return 'error';
  if (typeof message !== 'object' || message === null) return String(message);
  return typeof next === 'string' ? next : '';
}

/** Its members as JSON, each behind a comma; a list or the like as one. A line is written whatever they are. */
function membersOf(message: object): string {
  try {
    const json = JSON.stringify(describe(message)) as string | undefined;
    if (json === undefined || json === '{}') return '';
    return json.startsWith('{') ? `,${json.slice(1, -1)}` : `,"members":${json}`;
  } catch {
    return ',"members":"not to be had as JSON"';
  }
}

function describe(message: object): object {
  if (message instanceof Error) return { error: describeError(message) };
  return 'error' in message ? { ...message, error: describeError(message.error) } : message;
}

/** Chosen members only: a driver's error carries statements and values in others. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error;
  const { code, logMessage } = error as { code?: unknown; logMessage?: unknown };
  const message = typeof logMessage === 'string' ? logMessage : error.message;
  return {
    type: error.name,
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    ...(typeof code === 'string' ? { code } : {}),
    // Where it happened, without the message that the first lines repeat.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 10)
      .join('\n'),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}
