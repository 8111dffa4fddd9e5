// Vectors that somebody of a workspace has paid for: kept within bounds, and shared while they are being fetched.
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import type { ServedSlice } from '../../routing/embedding-router.js';
import { endpointName } from '../../routing/endpoints/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoints/endpoint-target.js';
import type { Vector } from '../../vectors/vectors.js';
import { FairCache } from './fair-cache.js';
import type { CacheOwner } from './fair-cache.js';

// What an entry takes beside its vector: its key, its objects, its place in the list, the allocator's rest.
const BYTES_AROUND_VECTOR = 1024;
// Inputs of a workspace that calls fetch for each other as well; a call beyond that fetches for itself alone.
const MAX_SHARED_INPUTS = 100_000;

/** Names alone: an endpoint's target holds a credential, which the cache must not keep. */
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

/** By key the call that fetches it. */
type CallsInFlight = Map<string, CacheClaim>;

@Injectable()
export class EmbeddingCache {
  /** Null: nothing is kept, so that only calls in flight share. */
  private readonly kept: FairCache<SourcedVector> | null;
  /** By workspace. */
  private readonly inFlight = new Map<string, CallsInFlight>();

  constructor({ embeddingCache }: AppConfig, clock: Clock) {
    this.kept =
      embeddingCache.bytes === 0
        ? null
        : new FairCache({
            maxBytes: embeddingCache.bytes,
            timeToLive: embeddingCache.timeToLive,
            now: () => clock.now().getTime(),
            sizeOf: ({ vector }) => bytesOf(vector) + BYTES_AROUND_VECTOR,
          });
  }

  /** One key for each input of a call. The claim is to be released, whatever becomes of the call. */
  claim(keys: readonly string[], owner: CacheOwner): CacheClaim {
    return new CacheClaim(keys, owner, this);
  }

  get(owner: CacheOwner, key: string): SourcedVector | undefined {
    return this.kept?.get(owner, key);
  }

  /** The call that fetches the vector for its workspace. */
  fetcherOf({ workspaceId }: CacheOwner, key: string): CacheClaim | undefined {
    return this.inFlight.get(workspaceId)?.get(key);
  }

  /** From now on others of the workspace wait for the call; not beyond the bound. */
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

  /** Keeps a copy: the vector itself is mostly a view of a whole answer. */
  keep(owner: CacheOwner, key: string, { vector, source }: SourcedVector): void {
    this.kept?.set(owner, key, { vector: copyOf(vector), source });
  }
}

/**
 * What one call has found, awaits and has to fetch. It claims once, at one moment, and so awaits only calls that have
 * claimed before it: no two calls ever await each other.
 */
export class CacheClaim {
  /** The positions of the inputs that nobody has and nobody fetches; of the same input once. */
  readonly missing: readonly number[];
  private readonly firstIndexes = new Map<string, number>();
  private readonly found = new Map<string, SourcedVector>();
  private readonly awaited = new Map<string, CacheClaim>();
  private readonly fetched = new Map<string, SourcedVector>();
  private readonly fetchedIndexes = new Set<number>();
  /** What this call has fetched and paid for; null when it failed. */
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

  /** What this call has fetched for these positions. */
  add(indexes: readonly number[], vectors: readonly SourcedVector[]): void {
    for (const [nth, index] of indexes.entries()) {
      const key = this.keys[index];
      const vector = vectors[nth];
      if (key === undefined || !vector) throw new RangeError('not one vector for every position');
      this.fetched.set(key, vector);
      this.fetchedIndexes.add(index);
    }
  }

  /**
   * Takes what other calls fetch. Resolves with the positions that they have failed to bring: the failure may be one of
   * their own, and this call has to ask for itself. Throws `operation_timeout` at `deadline` (performance.now()).
   */
  async takeFromOthers(deadline: number): Promise<readonly number[]> {
    if (this.awaited.size === 0) return [];
    const others = new Set(this.awaited.values());
    await finishedBefore(deadline, Promise.all([...others].map(({ outcome }) => outcome)));
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

  /** The endpoint that made the vector of the input at this position; null where no call has it yet. */
  sourceOf(index: number): VectorSource | null {
    const key = this.keys[index] ?? '';
    return (this.fetched.get(key) ?? this.found.get(key))?.source ?? null;
  }

  /** Whether no provider was asked for the input at this position: another call was, now or before, or another input. */
  isCached(index: number): boolean {
    return !this.fetchedIndexes.has(index);
  }

  /** Once the call is paid for: what a failed call has fetched costs nothing, and must not be had for nothing later. */
  publish(): void {
    for (const [key, vector] of this.fetched) this.cache.keep(this.owner, key, vector);
    this.decide(this.fetched);
  }

  /** In any case, at the end: whoever still waits is told that nothing will come. */
  release(): void {
    const keys = this.missing.map((index) => this.keys[index] ?? '');
    this.cache.withdraw(this.owner, keys, this);
    this.decide(null);
  }

  private indexesOf(isMeant: (key: string) => boolean): number[] {
    return [...this.firstIndexes].filter(([key]) => isMeant(key)).map(([, index]) => index);
  }

  /** Whether the key is this call's to fetch. */
  private claim(key: string): boolean {
    const known = this.cache.get(this.owner, key);
    const other = this.cache.fetcherOf(this.owner, key);
    if (known) this.found.set(key, known);
    else if (other) this.awaited.set(key, other);
    else this.cache.announce(this.owner, key, this);
    return !known && !other;
  }
}

async function finishedBefore(deadline: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = delay(Math.max(0, deadline - performance.now()), undefined, { signal: timer.signal }).then(
    () => {
      throw new AppError('operation_timeout');
    },
  );
  try {
    await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

function copyOf(vector: Vector): Vector {
  if (vector.form === 'floats') return { form: 'floats', values: vector.values.slice() };
  // Not from the pool, whose blocks would outlive the entry.
  const text = Buffer.allocUnsafeSlow(vector.text.length);
  vector.text.copy(text);
  return { form: vector.form, text };
}

function bytesOf(vector: Vector): number {
  return vector.form === 'floats' ? vector.values.byteLength : vector.text.byteLength;
}
