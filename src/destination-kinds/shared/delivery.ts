// The contract of delivering to a kind: pure functions from a config and traces to the requests to send, and from an
// answer to what became of them. Sending, retrying, splitting and keeping count happen once, for all kinds, elsewhere.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';

export interface DeliveryRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  /** Names in small letters. The config's own `headers` are added by the sender. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface DeliveryResponse {
  readonly status: number;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What became of the traces of one request. A `reason` is for an operator: short, and without secrets. */
export type DeliveryOutcome =
  /** Confirmed. `rejected` counts traces that the platform dropped for good; sending them again would not help. */
  | { readonly outcome: 'delivered'; readonly rejected?: number; readonly reason?: string }
  /** The same request may be taken later. `retryAfter` in seconds, where the platform says so. */
  | { readonly outcome: 'retry'; readonly reason: string; readonly retryAfter?: number }
  /** The same traces may be taken in smaller requests. */
  | { readonly outcome: 'too_large'; readonly reason: string }
  /** At least one of these traces will never be taken as it is. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** Nothing will be taken until somebody changes the config or the platform: credentials, address, table. */
  | { readonly outcome: 'blocked'; readonly reason: string }
  /** Not known yet: this request tells more, after so many milliseconds. */
  | { readonly outcome: 'continue'; readonly request: DeliveryRequest; readonly delay: number };

export interface DeliveryLimits {
  /** Traces that are encoded together at most: what becomes of them is known together. */
  readonly maxTraces: number;
  /** Bytes of one request's body at most. */
  readonly maxBytes: number;
  /** Milliseconds that a batch waits for more traces; platforms that dislike small batches have a long one. */
  readonly linger: number;
  /** Milliseconds for one request. */
  readonly timeout: number;
  /** Groups of `maxTraces` that may be under way together; absent: one. */
  readonly parallelRequests?: number;
  /** Milliseconds after which the platform takes a trace no more; absent: only this service's own bound counts. */
  readonly maxAge?: number;
}

export interface DeliveryContext {
  readonly destinationId: string;
  readonly now: Date;
}

/** One step of a connection test. */
export interface ProbeStep {
  readonly request: DeliveryRequest;
  /** Null when the answer proves what the step is for, else what is wrong, for an operator. */
  problem(response: DeliveryResponse): string | null;
}

/** Methods, so that a kind's own config class can stand for every kind's. */
export interface KindDelivery<Config> {
  readonly limits: DeliveryLimits;
  /** Every address that requests of this config go to, for the URL guard. May hold what is not a URL. */
  addresses(config: Config): readonly string[];
  /**
   * The requests that carry these traces: at least one trace, at most `limits.maxTraces`. A request is the unit that is
   * sent again, so what it holds depends on the traces and the destination alone (`now` only dates signatures). Each of
   * several tells something of all these traces, and is sent when the one before it was taken.
   */
  encode(
    config: Config,
    traces: readonly GenerationTrace[],
    context: DeliveryContext,
  ): readonly DeliveryRequest[] | Promise<readonly DeliveryRequest[]>;
  /** Reads any answer, whatever its status. `request` is the one that it answers. */
  read(
    response: DeliveryResponse,
    request: DeliveryRequest,
    config: Config,
    context: DeliveryContext,
  ): DeliveryOutcome | Promise<DeliveryOutcome>;
  /** Proves credentials and the right to write, and leaves as little as it can. */
  probe(config: Config, context: DeliveryContext): readonly ProbeStep[] | Promise<readonly ProbeStep[]>;
}
