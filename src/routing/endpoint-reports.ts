// The public report of an endpoint: whether it can serve, and its recent figures in this process.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { RerankEndpoint, RerankModel } from '../catalogue/rerank-model.js';
import type { ChatEndpoint, ChatModel } from '../domain/chat/chat-model.js';
import { Clock } from '../domain/clock.js';
import { findProvider } from '../providers/index.js';
import type { AddressProblem } from './failures/address-problem.js';
import { CredentialCircuits } from './credentials/credential-circuits.js';
import { EndpointCaller } from './endpoints/endpoint-caller.js';
import type { Percentiles } from './endpoints/endpoint-health.js';
import { EndpointHealthRegistry } from './endpoints/endpoint-health-registry.js';

const HALF_AN_HOUR = 1_800_000;
const MINUTES = { fiveMinutes: 5, halfAnHour: 30, day: 1_440 } as const;

export interface EndpointReport {
  readonly providerName: string;
  /** `out`: routing passes it over. `unconfigured`: this service has no credential or address for it. */
  readonly state: 'serving' | 'out' | 'unconfigured';
  /** Shares of successes; null without calls. */
  readonly uptime: Readonly<Record<keyof typeof MINUTES, number | null>>;
  /** Seconds; null without samples. */
  readonly latency: Percentiles | null;
  /** Tokens a second. */
  readonly throughput: Percentiles | null;
  /** Since the start of this process. */
  readonly lastFailure: {
    readonly at: Date;
    readonly failureClass: string;
    readonly status: number | null;
  } | null;
}

export interface WrongAddress extends AddressProblem {
  readonly lastSeenAt: Date;
}

@Injectable()
export class EndpointReports {
  constructor(
    private readonly caller: EndpointCaller,
    private readonly registry: EndpointHealthRegistry,
    private readonly circuits: CredentialCircuits,
    private readonly clock: Clock,
  ) {}

  /** The providers whose address has moved or is wrong: no later call was served there. */
  wrongAddresses(): readonly WrongAddress[] {
    const now = performance.now();
    return this.registry.addresses.list().map((problem) =>
      Object.assign({}, problem, {
        lastSeenAt: new Date(this.clock.now().getTime() - (now - problem.at)),
      }),
    );
  }

  /** Reports the health under the operator's credential. Failures of customers' own keys do not count. */
  of(
    model: CatalogueModel | ChatModel | RerankModel,
    endpoint: ModelEndpoint | ChatEndpoint | RerankEndpoint,
  ): EndpointReport {
    const provider = findProvider(endpoint.provider);
    if (!provider) throw new Error(`the catalogue names an unknown provider: ${endpoint.provider}`);
    const target = { model, endpoint, provider, credential: null };
    const health = this.registry.of(target);
    const now = performance.now();
    const failed = health.lastFailure;
    const uptime = (window: keyof typeof MINUTES): number | null =>
      health.history.uptime(now, MINUTES[window]);
    const isOpen = health.isOpen(now) || this.circuits.restOf(target, null) > 0;
    const outage = isOpen ? 'out' : 'serving';
    return {
      providerName: provider.name,
      state: this.caller.isConfigured(provider) ? outage : 'unconfigured',
      uptime: {
        fiveMinutes: uptime('fiveMinutes'),
        halfAnHour: uptime('halfAnHour'),
        day: uptime('day'),
      },
      latency: health.latency(now, HALF_AN_HOUR),
      throughput: health.throughput(now, HALF_AN_HOUR),
      lastFailure: failed && { ...failed, at: new Date(this.clock.now().getTime() - (now - failed.at)) },
    };
  }
}
