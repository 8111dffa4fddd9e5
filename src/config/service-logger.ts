// The log: pino's lines, one JSON object each, or a readable text for a terminal. Errors are written with the members
// that help to find them, and without callers' data. A slow, full or closed standard output never blocks the service.
import { performance } from 'node:perf_hooks';
import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Logger } from 'pino';
import sonicBoom from 'sonic-boom';
import type { AppConfig } from './app-config.js';
import { toText } from './log-text.js';

type Threshold = AppConfig['logLevel'];
type Level = Exclude<Threshold, 'silent'>;

const STANDARD_OUTPUT = 1;
// Bytes of unwritten lines; beyond it lines are dropped, so that they cannot fill the memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
// Milliseconds until a failed write is repeated, and that the exit of the process waits for a blocked reader.
const RETRY_DELAY = 100;
const EXIT_TIMEOUT = 1_000;
const MAX_MESSAGE_LENGTH = 500;
const MAX_FRAMES = 10;
const MAX_CAUSES = 4;
// Nest logs every route and module at each start, which helps only in debugging.
const TALKATIVE_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestFactory',
]);

/** Callers check it first, so that lines below the threshold cost nothing. */
export function isLogged(level: Level, threshold: Threshold): boolean {
  return threshold !== 'silent' && (pino.levels.values[level] ?? 0) >= (pino.levels.values[threshold] ?? 0);
}

/** Receives whole lines, each with its line break. */
interface LogOutput {
  write(line: string): void;
}

let opened: LogOutput | null = null;

/** The one of this process: lines of several loggers keep their order. */
function standardOutput(): LogOutput {
  return (opened ??= openStandardOutput());
}

/** Writes in order, one write at a time; lines that arrive during a write follow together. */
function openStandardOutput(): LogOutput {
  let giveUpAt = Infinity;
  const stream = new sonicBoom.SonicBoom({
    fd: STANDARD_OUTPUT,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: () => performance.now() < giveUpAt,
  });
  let retry: NodeJS.Timeout | null = null;
  // The stream keeps the rest of a failed write.
  stream.on('error', () => {
    retry ??= setTimeout(() => {
      retry = null;
      stream.flush();
    }, RETRY_DELAY).unref();
  });
  process.once('exit', () => {
    giveUpAt = performance.now() + EXIT_TIMEOUT;
    try {
      stream.flushSync();
    } catch {
      // A full disk or a closed reader: the last lines are lost.
    }
  });
  return stream;
}

export class ServiceLogger implements LoggerService {
  private readonly pino: Logger;

  constructor(
    { logLevel, logFormat }: Pick<AppConfig, 'logLevel' | 'logFormat'>,
    output: LogOutput = standardOutput(),
  ) {
    const options = {
      level: logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label: string) => ({ level: label }) },
      serializers: { error: describeError },
    };
    this.pino = pino(
      options,
      logFormat === 'text' ? { write: (line) => output.write(toText(line)) } : output,
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

  /** Nest passes the message, or an object and a message, and the context last. */
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    if (!this.pino.isLevelEnabled(level)) return;
    const context = contextOf(message, rest.at(-1));
    if (message instanceof Error) this.pino[level]({ context, error: message }, 'error');
    else if (typeof message === 'object' && message !== null)
      this.pino[level]({ context, ...message }, typeof rest[0] === 'string' ? rest[0] : '');
    else this.pino[level]({ context }, String(message));
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

/** Chosen members only: the others of a driver's error carry statements and values. */
function describeError(error: unknown, depth = 1): unknown {
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
      .slice(0, MAX_FRAMES)
      .join('\n'),
    ...(error.cause === undefined || depth > MAX_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}
