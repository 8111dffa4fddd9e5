// What all lanes of this process hold together of the log, whatever platforms do: pages that are looked through, and
// batches from when they are built until their requests are over. Accounts share it fairly.
import type { Destination } from '../domain/destinations/destination.js';
import type { LoggedGeneration } from '../persistence/generations/generation-reader.js';
import { WeightedSemaphore } from '../concurrency/weighted-semaphore.js';
import type { Permit } from '../concurrency/weighted-semaphore.js';

// Bytes of batches in all. Small ones have a part of their own: what is quickly sent never waits for what is not.
const LARGE_BATCHES = 224_000_000;
const SMALL_BATCHES = 32_000_000;
const SMALL_BATCH = 128_000;
// Bytes of pages that are looked through at once, and of one.
const PAGE_BYTES = 16_000_000;
const PAGE = 1_000_000;

// Of a trace without its texts, with its part of a request; of what is known of a generation that is not sent; and how
// often the texts of a trace are in memory: as they were read, and in a request, which some kinds write them to twice.
const TRACE_BYTES = 5_000;
const ENTRY_BYTES = 250;
const COPIES = 3;
// Of texts that one batch is built with.
const MAX_TEXT_BYTES = 2_000_000;

type Owner = Pick<Destination, 'accountId'>;

export class DeliveryBudget {
  private readonly large = new WeightedSemaphore(LARGE_BATCHES);
  private readonly small = new WeightedSemaphore(SMALL_BATCHES);
  private readonly pageBytes = new WeightedSemaphore(PAGE_BYTES);

  takePage({ accountId }: Owner): Permit | Promise<Permit> {
    return this.pageBytes.acquire(accountId, PAGE);
  }

  takeBatch({ accountId }: Owner, bytes: number): Permit | Promise<Permit> {
    return (bytes > SMALL_BATCH ? this.large : this.small).acquire(accountId, bytes);
  }
}

/** How much memory a batch takes, its requests included. */
export class BatchSize {
  traces = 0;
  private entries = 0;
  private textBytes = 0;

  /** One that nothing of is sent takes nothing for long. */
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

  /** Whether one more trace keeps the batch below so many bytes, and what is read for it within bounds. */
  hasRoomFor(textBytes: number, most: number): boolean {
    const text = this.textBytes + textBytes;
    return text <= MAX_TEXT_BYTES && bytesOf(this.entries + 1, this.traces + 1, text) <= most;
  }
}

/** Bytes of what callers have said, as far as the destination is told. */
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
