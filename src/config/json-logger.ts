// The log: one JSON object a line. Errors are written with the members that help to find them, and without callers'
// data.
//
// Why not pino: it serialises member by member, and every call has a line (docs/performance.md#tricks-in-force).
import type { LoggerService } from '@nestjs/common';
import type { AppConfig } from './app-config.js';
import { StandardOutput } from './standard-output.js';
import type { LogOutput } from './standard-output.js';

type Threshold = AppConfig['logLevel'];
type Level = Exclude<Threshold, 'silent'>;

const SEVERITY: Readonly<Record<Threshold, number>> = {
  trace: 1,
  debug: 2,
  info: 3,
  warn: 4,
  error: 5,
  fatal: 6,
  silent: 7,
};

const MAX_MESSAGE_LENGTH = 500;
// Nest logs every route and module at each start, which helps only in debugging.
const TALKATIVE_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
]);

/** Callers check it first, so that lines below the threshold cost nothing. */
export function isLogged(level: Level, threshold: Threshold): boolean {
  return SEVERITY[level] >= SEVERITY[threshold];
}

export class JsonLogger implements LoggerService {
  constructor(
    private readonly config: Pick<AppConfig, 'logLevel'>,
    private readonly output: LogOutput = new StandardOutput(),
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

  /** Nest passes the message, or an object and a message, and the context last. */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    if (!isLogged(level, this.config.logLevel)) return;
    const time = new Date().toISOString();
    const context = contextOf(message, rest.at(-1));
    const whose = context === undefined ? '' : `,"context":${JSON.stringify(context)}`;
    const members = typeof message === 'object' && message !== null ? membersOf(message) : '';
    const text = JSON.stringify(textOf(message, rest[0]));
    this.output.write(
      `{"level":"${level}","time":"${time}","pid":${process.pid}${whose}${members},"msg":${text}}\n`,
    );
  }
}

/**
 * Without a context Nest passes an error's stack as the last argument. The stack contains the whole message, so it is
 * dropped.
 */
function contextOf(message: unknown, last: unknown): string | undefined {
  if (typeof last !== 'string' || last.includes('\n')) return undefined;
  return message instanceof Error && message.stack === last ? undefined : last;
}

function textOf(message: unknown, next: unknown): string {
  if (message instanceof Error) return 'error';
  if (typeof message !== 'object' || message === null) return String(message);
  return typeof next === 'string' ? next : '';
}

/**
 * An object's members as JSON, each after a comma; an array as one member. Values that cannot be serialised never
 * lose the line.
 */
function membersOf(message: object): string {
  try {
    const json = JSON.stringify(describe(message)) as string | undefined;
    if (json === undefined || json === '{}') return '';
    return json.startsWith('{') ? `,${json.slice(1, -1)}` : `,"members":${json}`;
  } catch {
    return ',"members":"not serialisable as JSON"';
  }
}

function describe(message: object): object {
  if (message instanceof Error) return { error: describeError(message) };
  return 'error' in message ? { ...message, error: describeError(message.error) } : message;
}

/** Chosen members only: the others of a driver's error carry statements and values. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error;
  const { code, logMessage } = error as { code?: unknown; logMessage?: unknown };
  const message = typeof logMessage === 'string' ? logMessage : error.message;
  return {
    type: error.name,
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    ...(typeof code === 'string' ? { code } : {}),
    // The frames, without the message that the first lines repeat.
    stack: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 10)
      .join('\n'),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}
