// The credentials that one call may still use: those with an open circuit, and those rejected during the call, are
// skipped.
import type { AppError } from '../../domain/errors.js';
import type { CredentialCircuits } from './credential-circuits.js';
import { restingError, toCallerError, tooManyRejections } from '../endpoints/endpoint-failure.js';
import type { EndpointFailure } from '../endpoints/endpoint-failure.js';
import type { EndpointTarget } from '../endpoints/endpoint-target.js';

/** Rejected own keys in one call, beyond which it uses no other own key. */
const MAX_REJECTED_KEYS = 3;

export class CallCredentials {
  /** The other slices skip them. */
  private readonly rejected = new Set<EndpointTarget>();
  private readonly rejectedKeys = new Set<string>();
  /** The call holds their half-open probe, so every one of its slices may use them. */
  private readonly probed = new Set<EndpointTarget>();

  constructor(
    private readonly circuits: CredentialCircuits,
    private readonly accountId: string,
  ) {}

  mayAsk(target: EndpointTarget): boolean {
    if (this.rejected.has(target)) return false;
    if (target.credential !== null && this.rejectedKeys.size >= MAX_REJECTED_KEYS) return false;
    if (this.circuits.areClosed || this.probed.has(target)) return true;
    if (!this.circuits.tryUse(target, this.accountId)) return false;
    this.probed.add(target);
    return true;
  }

  served(target: EndpointTarget): void {
    this.circuits.served(target, this.accountId);
  }

  noteFailure({ kind, status }: EndpointFailure, target: EndpointTarget): void {
    if (kind !== 'credential') {
      this.circuits.probeFailed(target, this.accountId);
      return;
    }
    this.circuits.rejected(target, this.accountId, status);
    this.rejected.add(target);
    if (target.credential !== null) this.rejectedKeys.add(target.credential.id);
  }

  /** The caller's error when this failure is the last one. */
  errorOf(failure: EndpointFailure, target: EndpointTarget): AppError {
    const { size } = this.rejectedKeys;
    return failure.kind === 'credential' && size >= MAX_REJECTED_KEYS
      ? tooManyRejections(failure, target, size)
      : toCallerError(failure, target);
  }

  /** The caller's error when the last endpoint is skipped, and no other has failed. */
  passedOverError(target: EndpointTarget): AppError {
    return restingError(target, this.circuits.restOf(target, this.accountId));
  }
}
