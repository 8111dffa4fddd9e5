// The requests of one group that a process has in flight, and the bytes that they hold: of all accounts together, and of
// each, so that no account can keep every other one out.
import type { AppError } from '../../domain/errors.js';

export type ExhaustedResource = 'calls' | 'bytes';

/** What one account has in flight. */
interface Holdings {
  calls: number;
  bytes: number;
}

/** What a request holds until its answer has left and its work has ended, whichever is later. Given back, it is empty. */
export class InFlightPermit {
  private holds = 1;
  private bytes = 0;
  private accountId: string | null = null;
  private isRejected = false;

  constructor(
    private readonly limit: InFlightLimit,
    private readonly announced: number,
  ) {}

  /** Its caller has left before the work had begun. */
  get isReleased(): boolean {
    return this.holds === 0;
  }

  /** Counts as the account's from now on. Throws `overloaded` when that has its share already, and then holds nothing. */
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

  /** The work may outlive the connection of its caller; work that begins only afterwards is a call of its own. */
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

  /** What the body takes up once it is read. */
  setBytes(bytes: number): void {
    // No release would ever give them back.
    if (this.isReleased) return;
    this.add(bytes - this.bytes);
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
 * An account that is alone may hold all there is. Accounts that come while it does still get in: half as much again is
 * kept for those that hold little, an equal part for each.
 */
export class InFlightLimit {
  calls = 0;
  bytes = 0;
  private readonly accounts = new Map<string, Holdings>();
  private readonly onIdle: (() => void)[] = [];

  constructor(
    private readonly maxCalls: () => number,
    private readonly maxBytes: number,
    readonly reject: (reason: ExhaustedResource) => AppError,
  ) {}

  /**
   * `announced` bytes have to fit, and count only as they come. Where there is no room, a request that `mayBeAnothers` is
   * let in until its account is known. Throws `overloaded`.
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

  /** Of a request that is admitted already: whether its account has to leave what is there to others. */
  check(accountId: string, announced: number): ExhaustedResource | null {
    const own = this.accounts.get(accountId);
    const maxCalls = this.maxCalls();
    if (this.calls > maxCalls && (own?.calls ?? 0) >= Math.max(1, this.partOf(spareOf(maxCalls), own)))
      return 'calls';
    return this.fits(announced, 0, accountId) ? null : 'bytes';
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
    this.addBytes(-bytes, accountId);
    const holdings = accountId === null ? undefined : this.accounts.get(accountId);
    if (holdings && accountId !== null && --holdings.calls === 0) this.accounts.delete(accountId);
    if (this.calls > 0) return;
    for (const resolve of this.onIdle.splice(0)) resolve();
  }

  whenIdle(): Promise<void> {
    return this.calls === 0 ? Promise.resolve() : new Promise((resolve) => this.onIdle.push(resolve));
  }

  /** What one request holds alone always fits: whether that is too much is decided elsewhere. */
  fits(bytes: number, ofRequest: number, accountId: string | null): boolean {
    if (this.bytes + bytes <= this.maxBytes || this.bytes === ofRequest) return true;
    if (accountId === null) return false;
    const spare = spareOf(this.maxBytes);
    const own = this.accounts.get(accountId);
    return (
      this.bytes + bytes <= this.maxBytes + spare && (own?.bytes ?? 0) + bytes <= this.partOf(spare, own)
    );
  }

  /** One account's part of what is kept for others, whether it is among those that are there or comes to them. */
  private partOf(spare: number, own: Holdings | undefined): number {
    return Math.floor(spare / Math.max(1, this.accounts.size - (own ? 1 : 0)));
  }
}

function spareOf(most: number): number {
  return Math.max(1, Math.floor(most / 2));
}
