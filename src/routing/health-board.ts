// The health of every endpoint, and the chance that routing uses.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { EndpointHealth } from './endpoint-health.js';
import { endpointName } from './endpoint-target.js';
import type { EndpointTarget } from './endpoint-target.js';

// Credentials come and go with customers: those not used for long are forgotten.
const MAX_OWN = 20_000;

@Injectable()
export class HealthBoard {
  private readonly shared = new Map<string, EndpointHealth>();
  private readonly own = new LRUCache<string, EndpointHealth>({ max: MAX_OWN });

  /** An own provider key has limits of its own: its health is not that of the shared endpoint. */
  of(target: EndpointTarget): EndpointHealth {
    const { credential } = target;
    const name = endpointName(target) + (credential === null ? '' : ` ${credential.id}`);
    const known = credential === null ? this.shared : this.own;
    let health = known.get(name);
    if (!health) {
      health = new EndpointHealth();
      known.set(name, health);
    }
    return health;
  }

  random(): number {
    return Math.random();
  }
}
