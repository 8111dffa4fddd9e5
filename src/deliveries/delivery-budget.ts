// Bounds the bytes of the generation log that all destination consumers of this process hold, however slow platforms are:
// pages while they are searched, and batches until their requests have ended. Accounts share it fairly.
import type { Destination } from '../domain/destinations/destination.js';
import type { LoggedGeneration } from '../persistence/generations/generation-reader.js';
import { Semaphore } from '../concurrency/semaphore.js';
import type { WeightedPermit } from '../concurrency/semaphore.js';

// Bytes of all batches. Small batches have a budget of their own and never wait for large ones.
const LARGE_BATCHES = 224_000_000;
const SMALL_BATCHES = 32_000_000;
const SMALL_BATCH = 128_000;
// Bytes of the pages that are searched at once, and of one page.
const PAGE_BYTES = 16_000_000;
const PAGE = 1_000_000;

// Bytes of a trace without its texts, with its part of a request; bytes of an entry that is not sent; copies of the
// texts of a trace: as read, and in a request, where some kinds write them twice.
const TRACE_BYTES = 5_000;
const ENTRY_BYTES = 250;
const COPIES = 3;
// Bytes of the texts of one request's batch. Beyond it the batch ends.
const MAX_TEXT_BYTES = 2_000_000;

type Owner = Pick<Destination, 'accountId'>;

export class DeliveryBudget {
  private readonly large = semaphoreOf(LARGE_BATCHES);
  private readonly small = semaphoreOf(SMALL_BATCHES);
  private readonly pageBytes = semaphoreOf(PAGE_BYTES);

  takePages({ accountId }: Owner, pages = 1): WeightedPermit | Promise<WeightedPermit> {
    return acquire(this.pageBytes, accountId, pages * PAGE);
  }

  takeBatch({ accountId }: Owner, bytes: number): WeightedPermit | Promise<WeightedPermit> {
    return acquire(bytes > SMALL_BATCH ? this.large : this.small, accountId, bytes);
  }
}

/** No account holds more than it leaves to the others, and a quarter is for accounts that hold nothing. */
function semaphoreOf(bytes: number): Semaphore {
  return new Semaphore({ permits: bytes, reserved: bytes / 4, leavesHalf: true });
}

/** The permit itself when it is available at once. */
function acquire(
  semaphore: Semaphore,
  accountId: string,
  weight: number,
): WeightedPermit | Promise<WeightedPermit> {
  return semaphore.tryAcquire(accountId, { weight }) ?? semaphore.acquire(accountId, { weight });
}

/** How much memory a batch takes, its requests included. */
export class BatchSize {
  traces = 0;
  private entries = 0;
  private textBytes = 0;

  /** A batch without traces is released at once and counts as empty. */
  get bytes(): number {
    return this.traces === 0 ? 0 : bytesOf(this.entries, this.traces, this.textBytes);
  }

  addTrace(textBytes: number): void {
    this.entries++;
    this.traces++;
    this.textBytes += textBytes;
  }

  addOther(): void {
    this.entries++;
  }

  /** Whether the batch stays within `most` bytes, and its texts within their bound, with one more trace. */
  hasRoomFor(
    textBytes: number,
    { most, requests }: { readonly most: number; readonly requests: number },
  ): boolean {
    const text = this.textBytes + textBytes;
    return text <= MAX_TEXT_BYTES * requests && bytesOf(this.entries + 1, this.traces + 1, text) <= most;
  }
}

/** Bytes of the caller's texts that the destination receives. */
export function textBytesOf(
  { traceLength, contentBytes }: LoggedGeneration,
  { privacyMode }: Pick<Destination, 'privacyMode'>,
  readsContents: boolean,
): number {
  return (privacyMode ? 0 : traceLength) + (readsContents ? contentBytes : 0);
}

function bytesOf(entries: number, traces: number, textBytes: number): number {
  return entries * ENTRY_BYTES + traces * TRACE_BYTES + textBytes * COPIES;
}
