// Limits the in-flight requests of one traffic class and their bytes, in total and per account, so that no account can
// lock out the others.
//
// Why not Semaphore: a permit is granted before its account is known, its bytes grow while a body arrives, and nothing
// waits: a request beyond a limit is rejected at once.
import type { AppError } from '../../domain/errors.js';

export type ExhaustedResource = 'calls' | 'bytes';

/** The in-flight requests of one account. */
interface Holdings {
  calls: number;
  bytes: number;
}

/** Counts a request until its response has been sent and its work has ended, whichever is later. Empty once released. */
export class InFlightPermit {
  private holds = 1;
  private bytes = 0;
  private answerBytes = 0;
  private accountId: string | null = null;
  private isRejected = false;

  constructor(
    private readonly limit: InFlightLimit,
    private readonly announced: number,
  ) {}

  /** The caller disconnected before the work began. */
  get isReleased(): boolean {
    return this.holds === 0;
  }

  /** Counts the request for the account. Throws `overloaded`, and releases, when the account is at its limit. */
  assign(accountId: string): void {
    if (this.isReleased || this.accountId !== null) return;
    const exhausted = this.limit.check(accountId, this.announced);
    if (exhausted === null) {
      this.accountId = accountId;
      this.limit.enter(accountId, this.bytes);
      return;
    }
    this.release();
    this.isRejected = true;
    throw this.limit.reject(exhausted);
  }

  /** The work may outlive the connection of its caller. Work that begins after the release counts as a new call. */
  hold(): void {
    if (this.holds++ > 0) return;
    this.limit.calls++;
    if (this.accountId !== null) this.limit.enter(this.accountId, 0);
  }

  release(): void {
    if (this.isRejected || --this.holds > 0) return;
    const { bytes } = this;
    this.bytes = 0;
    this.limit.remove(bytes, this.accountId);
  }

  /** Replaces the counted bytes by the size of the body that was read. */
  setBytes(bytes: number): void {
    // No release would ever return them.
    if (this.isReleased) return;
    this.add(bytes - this.bytes);
  }

  /** Bytes beside those of the body: of an answer as far as it is kept. Replaces those that were acquired for it. */
  setAnswerBytes(bytes: number): void {
    if (this.isReleased) return;
    this.add(bytes - this.answerBytes);
    this.answerBytes = bytes;
  }

  /** For an answer that has not come. Throws `overloaded` when so many more bytes do not fit. */
  acquireAnswerBytes(bytes: number): void {
    if (this.isReleased) return;
    this.acquireBytes(bytes);
    this.answerBytes += bytes;
  }

  /** Throws `overloaded` when so many more bytes do not fit. */
  acquireBytes(bytes: number): void {
    if (this.isReleased) return;
    if (!this.limit.fits(bytes, this.bytes, this.accountId)) throw this.limit.reject('bytes');
    this.add(bytes);
  }

  private add(bytes: number): void {
    this.bytes += bytes;
    this.limit.addBytes(bytes, this.accountId);
  }
}

/**
 * A single account may use the whole limit. Accounts that arrive then are still admitted: half as much again is reserved
 * for accounts that hold little, in equal parts.
 */
export class InFlightLimit {
  calls = 0;
  bytes = 0;
  /** Calls of known accounts that have ended, and requests beyond the limit of calls, since the start. */
  served = 0;
  rejected = 0;
  private readonly accounts = new Map<string, Holdings>();
  private readonly onIdle: (() => void)[] = [];

  constructor(
    private readonly maxCalls: () => number,
    private readonly maxBytes: number,
    private readonly errorFor: (reason: ExhaustedResource) => AppError,
  ) {}

  /**
   * `announced` bytes must fit, and count as they arrive. Without room, a request that `mayBeAnothers` is admitted until
   * its account is known. Throws `overloaded`.
   */
  acquire(announced: number, mayBeAnothers: boolean): InFlightPermit {
    const maxCalls = this.maxCalls();
    const beyond = mayBeAnothers ? 1 : 0;
    if (this.calls >= maxCalls + beyond * spareOf(maxCalls)) throw this.reject('calls');
    const maxBytes = this.maxBytes + beyond * spareOf(this.maxBytes);
    if (this.bytes + announced > maxBytes && this.bytes > 0) throw this.reject('bytes');
    this.calls++;
    return new InFlightPermit(this, announced);
  }

  /** For an admitted request: the resource that its account must leave to others; null: none. */
  check(accountId: string, announced: number): ExhaustedResource | null {
    const own = this.accounts.get(accountId);
    const maxCalls = this.maxCalls();
    if (this.calls > maxCalls && (own?.calls ?? 0) >= Math.max(1, this.partOf(spareOf(maxCalls), own)))
      return 'calls';
    return this.fits(announced, 0, accountId) ? null : 'bytes';
  }

  /** Returns the error of a rejected request. */
  reject(reason: ExhaustedResource): AppError {
    if (reason === 'calls') this.rejected++;
    return this.errorFor(reason);
  }

  enter(accountId: string, bytes: number): void {
    const holdings = this.accounts.get(accountId);
    if (holdings) {
      holdings.calls++;
      holdings.bytes += bytes;
    } else this.accounts.set(accountId, { calls: 1, bytes });
  }

  addBytes(bytes: number, accountId: string | null): void {
    this.bytes += bytes;
    const holdings = accountId === null ? undefined : this.accounts.get(accountId);
    if (holdings) holdings.bytes += bytes;
  }

  remove(bytes: number, accountId: string | null): void {
    this.calls--;
    if (accountId !== null) this.served++;
    this.addBytes(-bytes, accountId);
    const holdings = accountId === null ? undefined : this.accounts.get(accountId);
    if (holdings && accountId !== null && --holdings.calls === 0) this.accounts.delete(accountId);
    if (this.calls > 0) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }

  whenIdle(): Promise<void> {
    return this.calls === 0 ? Promise.resolve() : new Promise((resolve) => this.onIdle.push(resolve));
  }

  /** A single request always fits: the body limit bounds its size. */
  fits(bytes: number, ofRequest: number, accountId: string | null): boolean {
    if (this.bytes + bytes <= this.maxBytes || this.bytes === ofRequest) return true;
    if (accountId === null) return false;
    const spare = spareOf(this.maxBytes);
    const own = this.accounts.get(accountId);
    return (
      this.bytes + bytes <= this.maxBytes + spare && (own?.bytes ?? 0) + bytes <= this.partOf(spare, own)
    );
  }

  /** One account's part of the reserve, whether or not it has requests in flight. */
  private partOf(spare: number, own: Holdings | undefined): number {
    return Math.floor(spare / Math.max(1, this.accounts.size - (own ? 1 : 0)));
  }
}

function spareOf(most: number): number {
  return Math.max(1, Math.floor(most / 2));
}
