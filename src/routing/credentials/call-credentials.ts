// The credentials that one call may still use: those with an open circuit, and those rejected during the call, are
// skipped.
import type { AppError } from '../../domain/errors.js';
import type { CredentialCircuits } from './credential-circuits.js';
import {
  openCircuitError,
  toCallerError,
  tooManyRejections,
  withdrawnError,
} from '../failures/caller-error.js';
import type { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FailureClass } from '../failures/failure-classes.js';
import type { ServingTarget } from '../endpoint-target.js';

/** Rejected own keys in one call, beyond which it uses no other own key. */
const MAX_REJECTED_KEYS = 3;

export class CallCredentials {
  /** The other slices skip them. */
  private readonly rejected = new Set<ServingTarget>();
  private readonly rejectedKeys = new Set<string>();
  /** By own key. */
  private readonly ownFailures = new Map<string, FailureClass>();
  /** The call holds their half-open probe, so every one of its slices may use them. */
  private readonly probed = new Set<ServingTarget>();

  constructor(
    private readonly circuits: CredentialCircuits,
    private readonly accountId: string,
  ) {}

  mayUse(target: ServingTarget): boolean {
    if (this.rejected.has(target)) return false;
    if (target.credential !== null && this.rejectedKeys.size >= MAX_REJECTED_KEYS) return false;
    if (this.circuits.areClosed || this.probed.has(target)) return true;
    if (!this.circuits.tryUse(target, this.accountId)) return false;
    this.probed.add(target);
    return true;
  }

  served(target: ServingTarget): void {
    this.circuits.served(target, this.accountId);
  }

  noteFailure({ failureClass, consequences, status }: EndpointFailure, target: ServingTarget): void {
    if (target.credential !== null) this.ownFailures.set(target.credential.id, failureClass);
    const { circuit } = consequences;
    if (circuit !== 'credential' && circuit !== 'credential_here') {
      this.circuits.probeFailed(target, this.accountId);
      return;
    }
    this.circuits.rejected(target, this.accountId, { failureClass, circuit, status });
    this.rejected.add(target);
    if (target.credential !== null) this.rejectedKeys.add(target.credential.id);
  }

  /** Why an own key did not serve a part of the call; null: it was not tried, or it served. */
  failureOf(target: ServingTarget): FailureClass | null {
    const failed = this.ownFailures.get(target.credential?.id ?? '');
    return failed ?? this.circuits.reasonOf(target, this.accountId);
  }

  /** The caller's error when this failure is the last one. */
  errorOf(failure: EndpointFailure, target: ServingTarget): AppError {
    const { size } = this.rejectedKeys;
    return this.rejected.has(target) && size >= MAX_REJECTED_KEYS
      ? tooManyRejections(failure, target, size)
      : toCallerError(failure, target);
  }

  /** Instead of `errorOf`, where the model is past its day and every endpoint fails so. Null: this failure is another. */
  withdrawnError(failure: EndpointFailure, target: ServingTarget): AppError | null {
    return withdrawnError(failure, target, this.circuits.today());
  }

  /** The caller's error when the last endpoint is skipped, and no other has failed. */
  passedOverError(target: ServingTarget): AppError {
    const rest = this.circuits.restOf(target, this.accountId);
    return openCircuitError(target, rest, this.circuits.reasonOf(target, this.accountId) ?? 'credential');
  }
}
