// Where the log goes: the standard output, which may be slow, full or gone without the service being held up by it.
import { pino } from 'pino';
import type { DestinationStream } from 'pino';

// Lines are written together: each write wakes another thread, and costs more than the line. Bytes, and milliseconds.
const BUFFERED_BYTES = 8 * 1024;
const FLUSH_INTERVAL = 100;
// Lines that could not be written yet; beyond it they are dropped, so that they cannot fill the memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
// Milliseconds for which the end of the process waits for a reader that takes nothing.
const LAST_TIMEOUT = 1_000;

type Output = ReturnType<typeof pino.destination>;

/** What its types do not know of it. */
interface Internals {
  sync: boolean;
  readonly _writing: boolean;
  readonly _writingBuf: Buffer;
  readonly release: (error: null, written: number) => void;
}

/** Nobody waits for a line to be written; what is still to be written at the end of the process, pino then writes. */
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
  // A full disk, a closed terminal: the lines wait, and every later write begins with them.
  output.on('error', () => undefined);
  output.flushSync = () => {
    givesUpAt = performance.now() + LAST_TIMEOUT;
    writeTheRest(output as Output & Internals);
    // Who logs even later must not fail by it.
    output.write = () => false;
  };
  // As bytes, which its types do not know: text that is gathered would be brought to one place again with every line.
  return { write: (line) => output.write(Buffer.from(line) as never) };
}

/** In the place of its own flushSync, which tries what fails (ENOSPC, EIO) again for ever: a write for each part, once. */
function writeTheRest(output: Output & Internals): void {
  output.sync = true;
  output.end();
  // The end of what another thread is writing just now would never be heard of; the rest follows it.
  if (output._writing) output.release(null, output._writingBuf.length);
}
