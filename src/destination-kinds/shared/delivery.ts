// The delivery contract of a kind: pure functions from a config and traces to requests, and from a response to an
// outcome. Sending, retrying, splitting and counting are shared by all kinds and live elsewhere.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';

export interface DeliveryRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  /** Lower-case names. The sender adds the config's custom `headers`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface DeliveryResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The outcome of one request. A `reason` is for an operator: short, without secrets. */
export type DeliveryOutcome =
  /** Confirmed. `rejected` counts traces that the platform dropped; another attempt would not help. */
  | { readonly outcome: 'delivered'; readonly rejected?: number; readonly reason?: string }
  /** The same request may succeed later. `retryAfter` in seconds, if the platform sends it. */
  | { readonly outcome: 'retry'; readonly reason: string; readonly retryAfter?: number }
  /** The same traces may succeed in smaller requests. */
  | { readonly outcome: 'too_large'; readonly reason: string }
  /** The platform will never accept at least one of these traces in this form. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /**
   * The platform accepts nothing until an operator changes the config or the platform: credentials, address, table.
   */
  | { readonly outcome: 'blocked'; readonly reason: string }
  /** Unknown yet: `request` reads the result after `delay` milliseconds. */
  | { readonly outcome: 'continue'; readonly request: DeliveryRequest; readonly delay: number };

export interface DeliveryLimits {
  /** Maximum traces of one encoding; they share an outcome. */
  readonly maxTraces: number;
  /** Maximum bytes of a request body. */
  readonly maxBytes: number;
  /** Milliseconds that a batch waits for more traces; long for platforms that dislike small batches. */
  readonly linger: number;
  /** Milliseconds for one request. */
  readonly timeout: number;
  /** Groups of `maxTraces` that may be in flight at once; absent: one. */
  readonly parallelRequests?: number;
  /** Milliseconds after which the platform rejects a trace; absent: only the bound of this service applies. */
  readonly maxAge?: number;
}

export interface DeliveryContext {
  readonly destinationId: string;
  readonly now: Date;
}

/** One step of a connection test. */
export interface ProbeStep {
  readonly request: DeliveryRequest;
  /** Null when the response proves the step, else the problem, for an operator. */
  problem(response: DeliveryResponse): string | null;
}

/** Methods, so that the config class of a kind is assignable to that of every kind. */
export interface KindDelivery<Config> {
  readonly limits: DeliveryLimits;
  /** All addresses of the config's requests, for the URL guard. Some may not be URLs. */
  addresses(config: Config): readonly string[];
  /**
   * Encodes at least one and at most `limits.maxTraces` traces. Retries repeat a whole request, so its content depends
   * on the traces and the destination only (`now` dates signatures). If there are several requests, each carries a part
   * of all traces and is sent after the previous one was accepted.
   */
  encode(
    config: Config,
    traces: readonly GenerationTrace[],
    context: DeliveryContext,
  ): readonly DeliveryRequest[] | Promise<readonly DeliveryRequest[]>;
  /** Reads a response of any status. `request` is the request that it answers. */
  read(
    response: DeliveryResponse,
    request: DeliveryRequest,
    config: Config,
    context: DeliveryContext,
  ): DeliveryOutcome | Promise<DeliveryOutcome>;
  /** Proves credentials and the right to write, and leaves as little data as possible. */
  probe(config: Config, context: DeliveryContext): readonly ProbeStep[] | Promise<readonly ProbeStep[]>;
}
