// Log lines to the standard output. A slow, full or closed one never blocks the service.
import { performance } from 'node:perf_hooks';
import sonicBoom from 'sonic-boom';

const STANDARD_OUTPUT = 1;
// Bytes of unwritten lines; beyond it lines are dropped, so that they cannot fill the memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
// Milliseconds until a failed write is repeated, and that the exit of the process waits for a blocked reader.
const RETRY_DELAY = 100;
const EXIT_TIMEOUT = 1_000;

/** Receives whole lines, each with its line break. */
export interface LogOutput {
  write(line: string): void;
}

let output: LogOutput | null = null;

/** The one of this process: lines of several loggers keep their order. */
export function standardOutput(): LogOutput {
  return (output ??= openStandardOutput());
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
