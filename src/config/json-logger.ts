// The log: one JSON object a line. Errors are written with what helps to find them and nothing that a caller sent.
import type { LoggerService } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { pino } from 'pino';
import type { DestinationStream, Level, Logger } from 'pino';
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
  private readonly pino: Logger;
  /** By the names of those who log, mostly classes: each is text by then, and no line has to be put together with it. */
  private readonly byContext = new LRUCache<string, Logger>({
    max: 1_000,
    memoMethod: (context) => this.pino.child({ context }),
  });

  /** `destination` takes the lines; by default they go to the standard output. */
  constructor(config: Pick<AppConfig, 'logLevel'>, destination?: DestinationStream) {
    this.pino = pino(
      {
        level: config.logLevel,
        base: { pid: process.pid },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: describeError },
      },
      destination ?? openStandardOutput(),
    );
  }

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
    const context = rest.at(-1);
    const logger = typeof context === 'string' ? this.byContext.memo(context) : this.pino;
    if (message instanceof Error) logger[level]({ error: message }, 'error');
    else if (typeof message === 'object' && message !== null) {
      logger[level](message, typeof rest[0] === 'string' ? rest[0] : '');
    } else logger[level](String(message));
  }
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
