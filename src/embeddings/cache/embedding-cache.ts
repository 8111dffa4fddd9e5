// In-memory embedding cache per workspace: bounded, with request coalescing.
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { withTimeout } from '../../concurrency/with-timeout.js';
import { AppConfig } from '../../config/app-config.js';
import { Metrics } from '../../config/metrics.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { endpointName } from '../../routing/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoint-target.js';
import type { ServedSlice } from '../../routing/routed-call.js';
import type { Vector } from '../../vectors/vectors.js';
import { FairCache } from '../../routing/fair-cache/fair-cache.js';
import type { CacheOwner } from '../../routing/fair-cache/fair-cache.js';

// The overhead of an entry: its key, objects, list node and the allocator's rounding.
const BYTES_AROUND_VECTOR = 1024;
// In-flight inputs of a workspace that calls share; beyond it each call fetches its own.
const MAX_SHARED_INPUTS = 100_000;

/** Names only: an endpoint's target holds a credential, which the cache must not retain. */
export interface VectorSource {
  readonly provider: string;
  /** The provider's slug. */
  readonly slug: string;
  /** As the log names it. */
  readonly endpoint: string;
}

export interface SourcedVector {
  readonly vector: Vector;
  readonly source: VectorSource;
}

export function sourceOf(target: EndpointTarget): VectorSource {
  const { provider } = target;
  return { provider: provider.name, slug: provider.slug, endpoint: endpointName(target) };
}

/** In the order of the inputs. */
export function sourcedVectorsOf(served: readonly ServedSlice[]): SourcedVector[] {
  return served.flatMap(({ target, vectors }) => {
    const source = sourceOf(target);
    return vectors.map((vector) => ({ vector, source }));
  });
}

/** The call that fetches a key. */
type CallsInFlight = Map<string, CacheClaim>;

@Injectable()
export class EmbeddingCache {
  /** Null: nothing is stored, and only in-flight calls share. */
  private readonly stored: FairCache<SourcedVector> | null;
  /** By workspace. */
  private readonly inFlight = new Map<string, CallsInFlight>();

  constructor({ embeddingCache }: AppConfig, clock: Clock) {
    this.stored =
      embeddingCache.bytes === 0
        ? null
        : new FairCache({
            maxBytes: embeddingCache.bytes,
            timeToLive: embeddingCache.timeToLive,
            now: () => clock.now().getTime(),
            sizeOf: ({ vector }) => bytesOf(vector) + BYTES_AROUND_VECTOR,
          });
  }

  /** One key for each input of a call. Release the claim on every path. */
  claim(keys: readonly string[], owner: CacheOwner): CacheClaim {
    return new CacheClaim(keys, owner, this);
  }

  get(owner: CacheOwner, key: string): SourcedVector | undefined {
    return this.stored?.get(owner, key);
  }

  /** The call that fetches the vector for its workspace. */
  fetcherOf({ workspaceId }: CacheOwner, key: string): CacheClaim | undefined {
    return this.inFlight.get(workspaceId)?.get(key);
  }

  /** Other calls of the workspace wait for this one from now on, up to the bound. */
  announce({ workspaceId }: CacheOwner, key: string, claim: CacheClaim): void {
    let calls = this.inFlight.get(workspaceId);
    if (!calls) this.inFlight.set(workspaceId, (calls = new Map()));
    if (calls.size < MAX_SHARED_INPUTS) calls.set(key, claim);
  }

  withdraw({ workspaceId }: CacheOwner, keys: readonly string[], claim: CacheClaim): void {
    const calls = this.inFlight.get(workspaceId);
    if (!calls) return;
    for (const key of keys) if (calls.get(key) === claim) calls.delete(key);
    if (calls.size === 0) this.inFlight.delete(workspaceId);
  }

  /** Stores a copy: the vector is often a view of a whole answer. */
  store(owner: CacheOwner, key: string, { vector, source }: SourcedVector): void {
    this.stored?.set(owner, key, { vector: copyOf(vector), source });
  }
}

/**
 * The inputs that one call has found, awaits and fetches. It claims all of them at one moment, and awaits only calls that
 * claimed before: no two calls await each other.
 */
export class CacheClaim {
  /** The indexes of the inputs that are neither cached nor in flight; identical inputs once. */
  readonly missing: readonly number[];
  private readonly firstIndexes = new Map<string, number>();
  private readonly found = new Map<string, SourcedVector>();
  private readonly awaited = new Map<string, CacheClaim>();
  private readonly fetched = new Map<string, SourcedVector>();
  private readonly fetchedIndexes = new Set<number>();
  /** The vectors that this call has paid for; null when it failed. */
  private readonly outcome: Promise<ReadonlyMap<string, SourcedVector> | null>;
  private decide: (outcome: ReadonlyMap<string, SourcedVector> | null) => void = () => undefined;

  constructor(
    private readonly keys: readonly string[],
    private readonly owner: CacheOwner,
    private readonly cache: EmbeddingCache,
  ) {
    this.outcome = new Promise((resolve) => (this.decide = resolve));
    for (const [index, key] of keys.entries())
      if (!this.firstIndexes.has(key)) this.firstIndexes.set(key, index);
    this.missing = this.indexesOf((key) => this.claim(key));
  }

  /** The vectors that this call has fetched for these indexes. */
  add(indexes: readonly number[], vectors: readonly SourcedVector[]): void {
    for (const [nth, index] of indexes.entries()) {
      const key = this.keys[index];
      const vector = vectors[nth];
      if (key === undefined || !vector) throw new RangeError('not one vector for every index');
      this.fetched.set(key, vector);
      this.fetchedIndexes.add(index);
    }
  }

  /**
   * Takes the vectors that other calls fetch. Resolves with the indexes that they failed to fetch: the reason may be
   * theirs alone, and this call fetches those itself. Throws `operation_timeout` at `deadline` (performance.now()).
   */
  async takeFromOthers(deadline: number): Promise<readonly number[]> {
    if (this.awaited.size === 0) return [];
    const others = new Set(this.awaited.values());
    const outcomes = Promise.all([...others].map(({ outcome }) => outcome));
    await withTimeout(outcomes, deadline - performance.now(), () => {
      throw new AppError('operation_timeout');
    });
    for (const [key, other] of this.awaited) {
      const vector = (await other.outcome)?.get(key) ?? this.cache.get(this.owner, key);
      if (vector) this.found.set(key, vector);
    }
    return this.indexesOf((key) => this.awaited.has(key) && !this.found.has(key));
  }

  /** One for each input, in order. */
  vectors(): SourcedVector[] {
    return this.keys.map((key) => {
      const vector = this.fetched.get(key) ?? this.found.get(key);
      if (!vector) throw new RangeError('an input has no vector');
      return vector;
    });
  }

  /** The endpoint that made the vector of the input; null while no call has it. */
  sourceOf(index: number): VectorSource | null {
    const key = this.keys[index] ?? '';
    return (this.fetched.get(key) ?? this.found.get(key))?.source ?? null;
  }

  /** Whether another call or an identical input brought the vector. */
  isCached(index: number): boolean {
    return !this.fetchedIndexes.has(index);
  }

  /** Call it once the call is paid: the vectors of a failed call are free, and must not become free cache hits. */
  publish(): void {
    for (const [key, vector] of this.fetched) this.cache.store(this.owner, key, vector);
    this.decide(this.fetched);
  }

  /** Call it on every path, at the end: waiting calls resume without a vector. */
  release(): void {
    const keys = this.missing.map((index) => this.keys[index] ?? '');
    this.cache.withdraw(this.owner, keys, this);
    this.decide(null);
  }

  private indexesOf(isIncluded: (key: string) => boolean): number[] {
    return [...this.firstIndexes].filter(([key]) => isIncluded(key)).map(([, index]) => index);
  }

  /** Returns whether this call has to fetch the key. */
  private claim(key: string): boolean {
    const known = this.cache.get(this.owner, key);
    const other = this.cache.fetcherOf(this.owner, key);
    if (known) this.found.set(key, known);
    else if (other) this.awaited.set(key, other);
    else this.cache.announce(this.owner, key, this);
    return !known && !other;
  }
}

function copyOf(vector: Vector): Vector {
  if (vector.form === 'floats') return { form: 'floats', values: vector.values.slice() };
  // Outside the pool: a block of the pool would live as long as the entry.
  const text = Buffer.allocUnsafeSlow(vector.text.length);
  vector.text.copy(text);
  return { form: vector.form, text };
}

export function bytesOf(vector: Vector): number {
  return vector.form === 'floats' ? vector.values.byteLength : vector.text.byteLength;
}

@Injectable()
export class EmbeddingCacheMetrics {
  private readonly inputs;

  constructor({ registry }: Metrics) {
    this.inputs = new Counter({
      name: 'signalbox_embedding_cache_inputs_total',
      help: 'Inputs of answered calls that use the cache, by whether a provider was called for them (miss) or not (hit).',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  answered(vectors: readonly { readonly isCached: boolean }[]): void {
    const hits = vectors.filter(({ isCached }) => isCached).length;
    this.inputs.inc({ outcome: 'hit' }, hits);
    this.inputs.inc({ outcome: 'miss' }, vectors.length - hits);
  }
}
