// The health of every endpoint, and the chance that routing uses.
import { Injectable } from '@nestjs/common';
import { EndpointHealth } from './endpoint-health.js';
import { endpointName } from './endpoint-target.js';
import type { EndpointTarget } from './endpoint-target.js';

@Injectable()
export class HealthBoard {
  private readonly endpoints = new Map<string, EndpointHealth>();

  /** An own provider key has limits of its own: its health is not that of the shared endpoint. */
  of(target: EndpointTarget): EndpointHealth {
    const name = `${endpointName(target)} ${target.credential?.id ?? ''}`;
    let health = this.endpoints.get(name);
    if (!health) {
      health = new EndpointHealth();
      this.endpoints.set(name, health);
    }
    return health;
  }

  random(): number {
    return Math.random();
  }
}
