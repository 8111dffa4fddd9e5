// The health of every endpoint, and the chance that routing uses.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { EndpointHealth } from './endpoint-health.js';
import { EndpointPermits } from './endpoint-permits.js';
import { ProviderAddresses } from './provider-addresses.js';
import { endpointName } from '../endpoint-target.js';
import type { ServingTarget } from '../endpoint-target.js';

// Credentials come and go with customers: those not used for long are forgotten.
const MAX_OWN = 20_000;

@Injectable()
export class EndpointHealthRegistry {
  readonly addresses = new ProviderAddresses();
  private readonly shared = new Map<string, EndpointHealth>();
  private readonly own = new LRUCache<string, EndpointHealth>(capacityFor(MAX_OWN));
  private readonly ownPermits = new Map<string, EndpointPermits>();

  /**
   * An own provider key has limits of its own: its health is not that of the shared endpoint. Places it shares with all
   * other own keys there: with places for each key, an account could open as many connections as it has keys for.
   */
  of(target: ServingTarget): EndpointHealth {
    const { credential } = target;
    const endpoint = endpointName(target);
    const name = endpoint + (credential === null ? '' : ` ${credential.id}`);
    const known = credential === null ? this.shared : this.own;
    let health = known.get(name);
    if (!health) {
      health = new EndpointHealth(credential === null ? undefined : this.ownPermitsOf(endpoint));
      known.set(name, health);
    }
    return health;
  }

  private ownPermitsOf(endpoint: string): EndpointPermits {
    let permits = this.ownPermits.get(endpoint);
    if (!permits) this.ownPermits.set(endpoint, (permits = new EndpointPermits()));
    return permits;
  }

  random(): number {
    return Math.random();
  }
}
