// Leases on spend counters: each lets one process spend a part of one without asking again.
import { randomUUID } from 'node:crypto';

export type SpendOwnerKind = 'key' | 'workspace' | 'account';

/** Whose counter it is. */
export interface SpendOwner {
  readonly kind: SpendOwnerKind;
  /** The id of the key, the workspace or the account. */
  readonly id: string;
  /** What the lease is kept with: the key's workspace, the workspace, or the account itself. */
  readonly workspaceId: string;
}

/** Seconds that a lease lives without being renewed: what a crashed process held is free again after them. */
export const LEASE_SECONDS = 30;

export class SpendLease {
  /** A new one for every lease: a statement that comes late must find its own lease, or none. */
  readonly id = randomUUID();
  private isInvalidated = false;
  private expiresAt = Infinity;

  constructor(readonly owner: SpendOwner) {}

  /** False once it may hold more or less than this process thinks: nothing more may be handed out of it. */
  isValid(now: number): boolean {
    return !this.isInvalidated && now < this.expiresAt;
  }

  /** `since`: before the statement was sent that granted or renewed it (performance.now()). */
  renew(since: number): void {
    this.expiresAt = since + LEASE_SECONDS * 1000;
  }

  /** Nobody can tell whether a statement about it was committed, or will be; or the database has it no more. */
  invalidate(): void {
    this.isInvalidated = true;
  }
}
