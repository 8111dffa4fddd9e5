// Log output to the standard output. A slow, full or closed one never blocks the service.
//
// Why not pino's destination: at the exit of the process it retries a failed write (ENOSPC, EIO) forever.
import { write, writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;
// Bytes and milliseconds. Lines are written together: a write wakes another thread and costs more than the line.
const BUFFERED_BYTES = 8 * 1024;
const FLUSH_INTERVAL = 100;
// Bytes of unwritten lines; beyond it lines are dropped, so that they cannot fill the memory.
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
// Milliseconds that the exit of the process waits for a blocked reader, and between two tries.
const EXIT_TIMEOUT = 1_000;
const EXIT_RETRY_DELAY = 20;

/** Receives whole lines, each with its line break. */
export interface LogOutput {
  write(line: string): void;
}

/** Writes asynchronously, one part at a time and in order, and the rest at the exit of the process. */
export class StandardOutput implements LogOutput {
  /** As bytes: text put together from pieces would be copied again. */
  private lines: Buffer[] = [];
  private waitingBytes = 0;
  /** The rest of the current part. A failed or partial write leaves it to the next one. */
  private unwritten: Buffer = Buffer.alloc(0);
  private isWriting = false;
  private hasFailed = false;
  private timer: NodeJS.Timeout | null = null;

  constructor() {
    process.once('exit', () => this.writeRest());
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.waitingBytes + bytes.length > MAX_WAITING_BYTES) return;
    this.lines.push(bytes);
    this.waitingBytes += bytes.length;
    this.schedule();
  }

  /** A full buffer is written at once. After a failure only the timer retries, not every line. */
  private schedule(): void {
    if (this.isWriting) return;
    const isDue = this.unwritten.length > 0 || this.waitingBytes >= BUFFERED_BYTES;
    if (isDue && !this.hasFailed) this.flush();
    else if (this.waitingBytes > 0 || this.unwritten.length > 0)
      this.timer ??= setTimeout(() => this.flush(), FLUSH_INTERVAL).unref();
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.unwritten.length === 0) this.unwritten = this.takeLines();
    this.isWriting = true;
    write(STANDARD_OUTPUT, this.unwritten, (error, written) => {
      this.isWriting = false;
      this.hasFailed = error !== null;
      if (!error) this.unwritten = this.unwritten.subarray(written);
      this.schedule();
    });
  }

  private takeLines(): Buffer {
    const bytes = Buffer.concat(this.lines, this.waitingBytes);
    this.lines = [];
    this.waitingBytes = 0;
    return bytes;
  }

  /** Gives up on every failure but a blocked reader's, and on that after a time-out. */
  private writeRest(): void {
    // No callback runs after the exit, but the write in flight is completed all the same.
    const current = this.isWriting ? [] : [this.unwritten];
    let rest = Buffer.concat([...current, this.takeLines()]);
    const deadline = performance.now() + EXIT_TIMEOUT;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(STANDARD_OUTPUT, rest));
      } catch (error) {
        const isBlocked = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isBlocked || performance.now() >= deadline) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_RETRY_DELAY);
      }
    }
  }
}
