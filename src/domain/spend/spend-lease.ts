// Leases on spend counters: a process may spend its part of a counter without further queries.
import { randomUUID } from 'node:crypto';

export type SpendOwnerKind = 'key' | 'guardrail' | 'workspace' | 'account';

/** The owner of a counter. */
export interface SpendOwner {
  readonly kind: SpendOwnerKind;
  /** The id of the key, the guardrail's counter, the workspace or the account. */
  readonly id: string;
  /** The lease is stored with the key's workspace, the workspace, or the account itself. */
  readonly workspaceId: string;
}

/**
 * Seconds for which a process may grant parts of a lease after its last renewal. After them the budget of a dead process is
 * available again, and that of a process which cannot be seen when no call can hold it any more.
 */
export const LEASE_SECONDS = 30;

/** Milliseconds after the end of a call in which its record may still be committed. */
export const LAST_COMMIT_MS = 600_000;

export class SpendLease {
  /** Unique per lease: a delayed statement must find its own lease or none. */
  readonly id = randomUUID();
  private isInvalidated = false;
  private hasLapsed = false;
  private expiresAt = Infinity;
  /** The calls that hold parts of it. */
  private readonly holders = new Set<() => void>();

  constructor(readonly owner: SpendOwner) {}

  /** False once the database may hold another amount than this process: no more of it may be granted. */
  isValid(now: number): boolean {
    return !this.isInvalidated && now < this.expiresAt;
  }

  /** `since`: the time before the statement that granted or renewed it (performance.now()). */
  renew(since: number): void {
    this.expiresAt = since + LEASE_SECONDS * 1000;
  }

  /** Call when the outcome of a statement about the lease is unknown. */
  invalidate(): void {
    this.isInvalidated = true;
  }

  /** The database no longer has it: other processes may spend the parts that calls hold. */
  lapse(): void {
    this.isInvalidated = true;
    this.hasLapsed = true;
    for (const end of this.holders) end();
    this.holders.clear();
  }

  /** Calls `end` when the lease lapses, which may have come. Returns the way to stop that. */
  onLapse(end: () => void): () => void {
    if (this.hasLapsed) end();
    else this.holders.add(end);
    return () => void this.holders.delete(end);
  }
}
