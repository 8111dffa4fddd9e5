// Leases on spend counters: a process may spend its part of a counter without further queries.
import { randomUUID } from 'node:crypto';

export type SpendOwnerKind = 'key' | 'workspace' | 'account';

/** The owner of a counter. */
export interface SpendOwner {
  readonly kind: SpendOwnerKind;
  /** The id of the key, the workspace or the account. */
  readonly id: string;
  /** The lease is stored with the key's workspace, the workspace, or the account itself. */
  readonly workspaceId: string;
}

/** Seconds until a lease expires without renewal. After them the budget of a crashed process is available again. */
export const LEASE_SECONDS = 30;

export class SpendLease {
  /** Unique per lease: a delayed statement must find its own lease or none. */
  readonly id = randomUUID();
  private isInvalidated = false;
  private expiresAt = Infinity;

  constructor(readonly owner: SpendOwner) {}

  /** False once the database may hold another amount than this process: no more of it may be granted. */
  isValid(now: number): boolean {
    return !this.isInvalidated && now < this.expiresAt;
  }

  /** `since`: the time before the statement that granted or renewed it (performance.now()). */
  renew(since: number): void {
    this.expiresAt = since + LEASE_SECONDS * 1000;
  }

  /** Call when the outcome of a statement about the lease is unknown, or the database no longer has it. */
  invalidate(): void {
    this.isInvalidated = true;
  }
}
