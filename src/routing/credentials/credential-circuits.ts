// Circuits of credentials: one that its provider refuses rests, so that calls do not repeat what cannot succeed.
// Source: decision 23.
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../domain/clock.js';
import { endpointName } from '../endpoints/endpoint-target.js';
import type { EndpointTarget } from '../endpoints/endpoint-target.js';
import { RoutingMetrics } from '../routing-metrics.js';

// Credentials come and go with customers: those not refused for long are forgotten.
const MAX_CIRCUITS = 20_000;
// Milliseconds. A refusal by mistake costs little; a credential that stays refused is asked ever less often.
const FIRST_REST = 5_000;
const LONGEST_REST = 60_000;
/** While one call asks whether the credential works again, and has no answer yet, the others wait this long. */
const PROBE_TIME = 5_000;

interface Circuit {
  /** Of the credential that was refused: a changed one is asked at once. */
  readonly version: number;
  openedAt: number;
  /** Milliseconds from `openedAt`. */
  rest: number;
  /** What it rests for after a refusal. */
  nextRest: number;
  isProbing: boolean;
}

@Injectable()
export class CredentialCircuits {
  private readonly logger = new Logger('Routing');
  private readonly circuits = new LRUCache<string, Circuit>({ max: MAX_CIRCUITS });

  constructor(
    private readonly clock: Clock,
    private readonly metrics: RoutingMetrics,
  ) {}

  get areClosed(): boolean {
    return this.circuits.size === 0;
  }

  /** Seconds until the credential is asked again; 0: it may be asked now. */
  restOf(target: EndpointTarget, accountId: string | null): number {
    if (this.areClosed) return 0;
    const rests = this.openFor(target, accountId).map((circuit) => this.remaining(circuit));
    return Math.ceil(Math.max(0, ...rests) / 1000);
  }

  /** Whether the credential may be asked: after its rest one call may, and the others when that call has succeeded. */
  tryUse(target: EndpointTarget, accountId: string): boolean {
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

  /** `status`: of the provider's answer, 403 with a meaning of its own. */
  rejected(target: EndpointTarget, accountId: string, status: number | null): void {
    const key = status === 403 ? endpointKey(target, accountId) : credentialKey(target);
    const circuit = this.find(key, target);
    if (!circuit) {
      this.circuits.set(key, this.opened(target, FIRST_REST));
      this.metrics.credentialRejected(target);
      if (target.credential === null) {
        const { slug } = target.provider;
        this.logger.warn(`${slug} refused the operator's credential with status ${status}; it rests`);
      }
      return;
    }
    // It is the answer to another request that was in flight when the circuit opened.
    if (!circuit.isProbing && this.remaining(circuit) > 0) return;
    this.circuits.set(key, this.opened(target, circuit.nextRest));
  }

  served(target: EndpointTarget, accountId: string): void {
    if (this.areClosed) return;
    this.circuits.delete(credentialKey(target));
    this.circuits.delete(endpointKey(target, accountId));
  }

  /** The call failed for another reason, which says nothing of the credential: the next call may ask. */
  probeFailed(target: EndpointTarget, accountId: string): void {
    if (this.areClosed) return;
    for (const circuit of this.openFor(target, accountId)) {
      if (circuit.isProbing) circuit.rest = 0;
      circuit.isProbing = false;
    }
  }

  private opened(target: EndpointTarget, rest: number): Circuit {
    const nextRest = Math.min(2 * rest, LONGEST_REST);
    return { version: versionOf(target), openedAt: this.now(), rest, nextRest, isProbing: false };
  }

  private openFor(target: EndpointTarget, accountId: string | null): Circuit[] {
    const keys = [credentialKey(target), ...(accountId === null ? [] : [endpointKey(target, accountId)])];
    return keys.flatMap((key) => this.find(key, target) ?? []);
  }

  private find(key: string, target: EndpointTarget): Circuit | null {
    const circuit = this.circuits.get(key);
    return circuit?.version === versionOf(target) ? circuit : null;
  }

  /** Milliseconds. A clock that is set back ends every rest. */
  private remaining({ openedAt, rest }: Circuit): number {
    const elapsed = this.now() - openedAt;
    return elapsed < 0 ? 0 : Math.max(0, rest - elapsed);
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function credentialKey({ provider, credential }: EndpointTarget): string {
  return credential === null ? provider.slug : credential.id;
}

/**
 * A 403 may be about the model, or about what the caller sent (a provider's firewall answers so): the credential rests at
 * this endpoint only, and one of the operator's for this account only. No caller can close it for others.
 */
function endpointKey(target: EndpointTarget, accountId: string): string {
  const owner = target.credential === null ? ` ${accountId}` : '';
  return `${credentialKey(target)} ${endpointName(target)}${owner}`;
}

function versionOf({ credential }: EndpointTarget): number {
  return credential?.version ?? 0;
}
