// The served parts of calls that failed by no fault of their caller, kept for a retry with the same API key: the retry
// requests only the rest from providers. The failed call costs nothing, and its record has the providers' bill; the retry
// pays each part once (docs/contract.md#spend).
import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { Counter } from 'prom-client';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { Metrics } from '../../config/metrics.js';
import { Clock } from '../../domain/clock.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { endpointName } from '../../routing/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoint-target.js';
import type { RoutedCall, ServedSlice } from '../../routing/routed-call.js';
import type { Route } from '../../routing/embeddings/route-planner.js';
import { embeddingCacheKeys, isCacheable } from './embedding-cache-key.js';
import { bytesOf } from './embedding-cache.js';
import { FairCache } from '../../routing/fair-cache/fair-cache.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** Milliseconds. Clients retry within a minute, and a few times. */
const TIME_TO_LIVE = 120_000;
const MAX_KEYS = 10_000;
const BYTES_AROUND_SLICE = 1024;

/** Names and numbers: a target holds a credential, and a slice its texts, which must not be kept. */
interface KeptSlice extends Pick<
  ServedSlice,
  'start' | 'vectors' | 'promptTokens' | 'totalTokens' | 'tokensByModality' | 'upstreamId'
> {
  readonly count: number;
  readonly endpoint: string;
  readonly credential: string | null;
}

interface KeptCall {
  readonly slices: readonly KeptSlice[];
  /** One retry pays for them; a second one at the same time must not. */
  isTaken: boolean;
}

type SendRequest = (request: EmbeddingRequest) => Promise<RoutedCall>;

@Injectable()
export class PartialResults {
  private readonly kept: FairCache<KeptCall>;
  /** The API keys that may have some: calls of all others are not even compared. */
  private readonly keys = new LRUCache<string, number>(capacityFor(MAX_KEYS));
  private readonly inputs;

  constructor(
    { registry }: Metrics,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
  ) {
    this.kept = new FairCache({
      maxBytes: MAX_BYTES,
      timeToLive: TIME_TO_LIVE,
      now: () => this.now(),
      sizeOf: ({ slices }) => slices.reduce((sum, slice) => sum + sizeOf(slice), 0),
    });
    this.inputs = new Counter({
      name: 'signalbox_kept_inputs_total',
      help: 'Inputs that were served in calls that failed by no fault of their caller, by outcome: kept for a retry, or used by one, which pays for them.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  /** `send` routes a request with some of the inputs, which are consecutive. */
  serve(key: ApiKey, route: Route, request: EmbeddingRequest, send: SendRequest): Promise<RoutedCall> {
    return this.mayHave(key) ? this.complete(key, route, request, send) : send(request);
  }

  private async complete(
    key: ApiKey,
    route: Route,
    request: EmbeddingRequest,
    send: SendRequest,
  ): Promise<RoutedCall> {
    const slices = await this.take(key, route, request);
    if (slices.length === 0) return send(request);
    for (const { input } of slices) this.inputs.inc({ outcome: 'used' }, input.items.length);
    return completed(slices, request, send);
  }

  /** After the record of a failed call is committed. */
  async keep(key: ApiKey, route: Route, request: EmbeddingRequest, routed: RoutedCall): Promise<void> {
    if (routed.error?.payer !== 'operator' || routed.served.length === 0 || !isCacheable(request)) return;
    const fingerprint = await this.fingerprintOf(key, route, request);
    this.kept.set(key, fingerprint, { slices: routed.served.map(toKeptSlice), isTaken: false });
    this.keys.set(key.id, this.now() + TIME_TO_LIVE);
    for (const { input } of routed.served) this.inputs.inc({ outcome: 'kept' }, input.items.length);
  }

  private mayHave({ id }: ApiKey): boolean {
    return this.keys.size > 0 && (this.keys.get(id) ?? 0) > this.now();
  }

  private async take(key: ApiKey, route: Route, request: EmbeddingRequest): Promise<ServedSlice[]> {
    if (!isCacheable(request)) return [];
    const call = this.kept.get(key, await this.fingerprintOf(key, route, request));
    if (!call || call.isTaken) return [];
    call.isTaken = true;
    return call.slices.flatMap((slice) => toServedSlice(slice, route, request) ?? []);
  }

  private async fingerprintOf(key: ApiKey, route: Route, request: EmbeddingRequest): Promise<string> {
    const pace = this.yieldQueue.begin(key.accountId);
    const keys = await embeddingCacheKeys(key.workspaceId, route, request, pace);
    return hash('sha256', [key.id, ...keys].join(), 'base64url');
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

/** Routes what no slice holds, in runs of consecutive inputs, up to the first failure. */
async function completed(
  kept: readonly ServedSlice[],
  request: EmbeddingRequest,
  send: SendRequest,
): Promise<RoutedCall> {
  const served = [...kept];
  const calls: RoutedCall[] = [];
  for (const [start, end] of gapsOf(kept, request.input.items.length)) {
    const call = await send({ ...request, input: partOf(request.input, start, end) });
    served.push(...call.served.map((slice) => ({ ...slice, start: slice.start + start })));
    const { error } = call;
    const index = error?.inputIndex ?? null;
    calls.push({ ...call, error: error && index !== null ? error.atInput(index + start) : error });
    if (error) break;
  }
  return {
    served: served.toSorted((one, other) => one.start - other.start),
    wasted: calls.flatMap(({ wasted }) => wasted),
    attempts: calls.flatMap(({ attempts }) => attempts),
    passedOver: calls.flatMap(({ passedOver }) => passedOver),
    error: calls.at(-1)?.error ?? null,
  };
}

function gapsOf(kept: readonly ServedSlice[], count: number): (readonly [number, number])[] {
  const gaps: (readonly [number, number])[] = [];
  let start = 0;
  for (const slice of kept) {
    if (slice.start > start) gaps.push([start, slice.start]);
    start = slice.start + slice.input.items.length;
  }
  return start < count ? [...gaps, [start, count]] : gaps;
}

function partOf({ form, items }: EmbeddingInput, start: number, end: number): EmbeddingInput {
  return { form, items: items.slice(start, end) } as EmbeddingInput;
}

function toKeptSlice({ target, input, ...slice }: ServedSlice): KeptSlice {
  const { start, vectors, promptTokens, totalTokens, tokensByModality, upstreamId } = slice;
  return {
    start,
    vectors,
    promptTokens,
    totalTokens,
    ...(tokensByModality === undefined ? {} : { tokensByModality }),
    upstreamId,
    count: input.items.length,
    endpoint: endpointName(target),
    credential: credentialName(target),
  };
}

/** Null: the retry may not use the endpoint, or the credential has changed. */
function toServedSlice(
  { count, endpoint, credential, ...slice }: KeptSlice,
  route: Route,
  { input }: EmbeddingRequest,
): ServedSlice | null {
  const target = route.targets.find(
    (candidate) => endpointName(candidate) === endpoint && credentialName(candidate) === credential,
  );
  if (!target) return null;
  return { ...slice, target, input: partOf(input, slice.start, slice.start + count), isKept: true };
}

function credentialName({ credential }: EndpointTarget): string | null {
  return credential && `${credential.id} ${credential.version}`;
}

function sizeOf({ vectors }: KeptSlice): number {
  return vectors.reduce((sum, vector) => sum + bytesOf(vector), BYTES_AROUND_SLICE);
}
