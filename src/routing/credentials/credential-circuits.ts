// Circuit breakers of credentials: one that its provider rejects rests, so that calls do not repeat a request that
// cannot succeed (docs/contract.md#routing).
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { Clock } from '../../domain/clock.js';
import { utcDay } from '../../domain/spend/spend.js';
import { endpointName } from '../endpoint-target.js';
import type { ServingTarget } from '../endpoint-target.js';
import type { FailureClass } from '../failures/failure-classes.js';
import { RoutingMetrics } from '../routing-metrics.js';

// Credentials come and go with customers: the least recently rejected are evicted.
const MAX_CIRCUITS = 20_000;
// Milliseconds. A rejection by mistake costs little; a credential that stays rejected is used ever less often.
const FIRST_REST = 5_000;
const LONGEST_REST = 60_000;
/** Milliseconds that other calls wait for the outcome of a probe. */
const PROBE_TIME = 5_000;

interface Circuit {
  /** The version of the rejected credential: a changed one is used at once. */
  readonly version: number;
  readonly failureClass: FailureClass;
  openedAt: number;
  /** Milliseconds from `openedAt`. */
  rest: number;
  /** The rest after the next rejection. */
  nextRest: number;
  isProbing: boolean;
}

interface Rejection {
  readonly failureClass: FailureClass;
  /** `credential_here`: at this endpoint only. */
  readonly circuit: 'credential' | 'credential_here';
  /** The status of the provider's response. */
  readonly status: number | null;
}

@Injectable()
export class CredentialCircuits {
  private readonly logger = new Logger('Routing');
  private readonly circuits = new LRUCache<string, Circuit>(capacityFor(MAX_CIRCUITS));

  constructor(
    private readonly clock: Clock,
    private readonly metrics: RoutingMetrics,
  ) {}

  get areClosed(): boolean {
    return this.circuits.size === 0;
  }

  /** Seconds until the credential may be used; 0: now. */
  restOf(target: ServingTarget, accountId: string | null): number {
    if (this.areClosed) return 0;
    const rests = this.openFor(target, accountId).map((circuit) => this.remaining(circuit));
    return Math.ceil(Math.max(0, ...rests) / 1000);
  }

  /**
   * Whether the credential may be used. After its rest one call may probe it; the others may after that call's
   * success.
   */
  tryUse(target: ServingTarget, accountId: string): boolean {
    if (this.areClosed) return true;
    const circuits = this.openFor(target, accountId);
    if (circuits.some((circuit) => this.remaining(circuit) > 0)) return false;
    for (const circuit of circuits) {
      circuit.openedAt = this.now();
      circuit.rest = PROBE_TIME;
      circuit.isProbing = true;
    }
    return true;
  }

  rejected(target: ServingTarget, accountId: string, rejection: Rejection): void {
    const { circuit: scope, failureClass } = rejection;
    const key = scope === 'credential' ? credentialKey(target) : endpointKey(target, accountId);
    const circuit = this.find(key, target);
    if (!circuit) {
      this.circuits.set(key, this.opened(target, failureClass, FIRST_REST));
      this.metrics.credentialRejected(target);
      this.log(target, accountId, rejection);
      return;
    }
    // The response to another request that was in flight when the circuit opened.
    if (!circuit.isProbing && this.remaining(circuit) > 0) return;
    this.circuits.set(key, this.opened(target, failureClass, circuit.nextRest));
  }

  served(target: ServingTarget, accountId: string): void {
    if (this.areClosed) return;
    this.circuits.delete(credentialKey(target));
    this.circuits.delete(endpointKey(target, accountId));
  }

  /** The probe failed for another reason, which says nothing about the credential: the next call may probe. */
  probeFailed(target: ServingTarget, accountId: string): void {
    if (this.areClosed) return;
    for (const circuit of this.openFor(target, accountId)) {
      if (circuit.isProbing) circuit.rest = 0;
      circuit.isProbing = false;
    }
  }

  /** Why the credential rests; null: it does not. */
  reasonOf(target: ServingTarget, accountId: string): FailureClass | null {
    if (this.areClosed) return null;
    return this.openFor(target, accountId)[0]?.failureClass ?? null;
  }

  private log({ provider, credential }: ServingTarget, accountId: string, rejection: Rejection): void {
    const owner =
      credential === null
        ? { owner: 'operator' }
        : { owner: 'workspace', accountId, credentialId: credential.id };
    const { failureClass, status } = rejection;
    this.logger.warn(
      { provider: provider.slug, ...owner, reason: failureClass, status },
      'a provider rejected a credential; it rests',
    );
  }

  private opened(target: ServingTarget, failureClass: FailureClass, rest: number): Circuit {
    const nextRest = Math.min(2 * rest, LONGEST_REST);
    const version = versionOf(target);
    return { version, failureClass, openedAt: this.now(), rest, nextRest, isProbing: false };
  }

  private openFor(target: ServingTarget, accountId: string | null): Circuit[] {
    const keys = [credentialKey(target), ...(accountId === null ? [] : [endpointKey(target, accountId)])];
    return keys.flatMap((key) => this.find(key, target) ?? []);
  }

  private find(key: string, target: ServingTarget): Circuit | null {
    const circuit = this.circuits.get(key);
    return circuit?.version === versionOf(target) ? circuit : null;
  }

  /** Milliseconds. A clock that is set back ends every rest. */
  private remaining({ openedAt, rest }: Circuit): number {
    const elapsed = this.now() - openedAt;
    return elapsed < 0 ? 0 : Math.max(0, rest - elapsed);
  }

  /** In UTC. */
  today(): string {
    return utcDay(this.clock.now());
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function credentialKey({ provider, credential }: ServingTarget): string {
  return credential === null ? provider.slug : credential.id;
}

/**
 * A 403 may concern the model or the caller's text (a provider's firewall answers so), and words may repeat that text. The
 * credential then rests at this endpoint only, and an operator's credential for this account only: no caller can close it for others.
 */
function endpointKey(target: ServingTarget, accountId: string): string {
  const owner = target.credential === null ? ` ${accountId}` : '';
  return `${credentialKey(target)} ${endpointName(target)}${owner}`;
}

function versionOf({ credential }: ServingTarget): number {
  return credential?.version ?? 0;
}
