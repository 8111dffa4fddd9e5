// Tests a destination: proves credentials and the right to write, step by step, and leaves as little data as possible.
import { Injectable } from '@nestjs/common';
import { parseConfig } from '../destination-kinds/shared/destination-kind.js';
import { requireDestinationKind } from '../destination-kinds/index.js';
import { Clock } from '../domain/clock.js';
import type { ConnectionTest } from '../domain/destinations/delivery.js';
import type { Destination } from '../domain/destinations/destination.js';
import { PlatformClient, withoutSecrets } from './batches/platform-client.js';

/** A stored destination, or settings that are not stored yet, under an id of their own. */
export type TestableDestination = Pick<Destination, 'id' | 'accountId' | 'kind' | 'config'>;

@Injectable()
export class ConnectionTester {
  constructor(
    private readonly exchange: PlatformClient,
    private readonly clock: Clock,
  ) {}

  async test(destination: TestableDestination): Promise<ConnectionTest> {
    const startedAt = performance.now();
    const problem = await this.findProblem(destination);
    return { problem, durationMs: Math.round(performance.now() - startedAt) };
  }

  private async findProblem(destination: TestableDestination): Promise<string | null> {
    const kind = requireDestinationKind(destination.kind);
    const config = parseConfig(kind, destination.config);
    const context = { destinationId: destination.id, now: this.clock.now() };
    for (const step of await kind.delivery.probe(config, context)) {
      const { request } = step;
      const signal = AbortSignal.timeout(kind.delivery.limits.timeout);
      const response = await this.exchange.send({ destination, kind, config }, request, signal);
      const found = 'outcome' in response ? response.reason : step.problem(response);
      if (found !== undefined && found !== null) return withoutSecrets(found, config, request);
    }
    return null;
  }
}
