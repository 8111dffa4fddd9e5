// Log output to the standard output. A slow, full or closed one never blocks the service.
import { pino } from 'pino';
import type { DestinationStream } from 'pino';

// Bytes and milliseconds. Lines are written together: a write wakes another thread and costs more than the line.
const BUFFERED_BYTES = 8 * 1024;
const FLUSH_INTERVAL = 100;
// Unwritten lines; beyond it lines are dropped, so that they cannot fill the memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
// Milliseconds that the exit of the process waits for a blocked reader.
const LAST_TIMEOUT = 1_000;

type Output = ReturnType<typeof pino.destination>;

/** Members of the destination that its types do not declare. */
interface Internals {
  sync: boolean;
  readonly _writing: boolean;
  readonly _writingBuf: Buffer;
  readonly release: (error: null, written: number) => void;
}

/** Writes are asynchronous. At the exit of the process pino flushes the rest. */
export function openStandardOutput(): DestinationStream {
  let givesUpAt = Infinity;
  const output = pino.destination({
    dest: 1,
    sync: false,
    contentMode: 'buffer',
    minLength: BUFFERED_BYTES,
    periodicFlush: FLUSH_INTERVAL,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: () => performance.now() < givesUpAt,
  });
  // On a full disk or a closed terminal the lines wait; every later write retries them first.
  output.on('error', () => undefined);
  output.flushSync = () => {
    givesUpAt = performance.now() + LAST_TIMEOUT;
    writeTheRest(output as Output & Internals);
    // A later log call must not fail.
    output.write = () => false;
  };
  // As bytes, which the types do not declare: buffered text would be copied again with every line.
  return { write: (line) => output.write(Buffer.from(line) as never) };
}

/** Replaces pino's flushSync, which retries failures (ENOSPC, EIO) forever: this one writes each part once. */
function writeTheRest(output: Output & Internals): void {
  output.sync = true;
  output.end();
  // The result of an asynchronous write in flight would never arrive; the rest follows it.
  if (output._writing) output.release(null, output._writingBuf.length);
}
