// Learns from earlier requests how large those of a destination become and how large a request it accepts, so that few
// are encoded in vain.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { mapTexts } from '../../domain/generations/chat-content.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { versionKeyOf } from '../workspace-destinations.js';
import type { DeliveryTarget } from '../workspace-destinations.js';

// Fraction of the accepted size that a request aims at. The rest is room for text with more escapes than before.
const AIMED_AT = 0.9;
// Factors of the bound after a request that was too large, and after each accepted one. A proxy in front of a platform
// may accept less than the platform, and may be reconfigured, so about one of forty requests probes it.
const SHRINKS_BY = 2;
const GROWS_BY = 1.02;
// Approximate bytes of a trace without its input, and of a token.
const AROUND = 1_000;
const TOKEN = 6;

// Destinations. Beyond this bound the sizes of those that sent nothing for longest are learned again.
const MAX_DESTINATIONS = 20_000;

/** Sizes that earlier requests of a destination have shown. */
interface LearnedSizes {
  /** Bytes of a request for each unit of weight. */
  readonly ratio?: number;
  /** Bytes that the destination most likely accepts, after it rejected a size that its kind allows. */
  readonly bound?: number;
}

@Injectable()
export class PayloadSizer {
  /** By version of the destination, so that a change of another destination of the workspace keeps them. */
  private readonly learned = new LRUCache<string, LearnedSizes>(capacityFor(MAX_DESTINATIONS));

  /** Splits traces into runs that most likely fit into one request each; one run while no size is known. */
  split(target: DeliveryTarget, traces: readonly GenerationTrace[]): readonly (readonly GenerationTrace[])[] {
    const most = (AIMED_AT * this.boundOf(target)) / (this.learnedOf(target).ratio ?? 0);
    const starts = [0];
    let weight = 0;
    for (const [index, trace] of traces.entries()) {
      const own = weightOf(trace);
      weight += own;
      if (index === 0 || weight <= most) continue;
      starts.push(index);
      weight = own;
    }
    return starts.map((start, index) => traces.slice(start, starts[index + 1]));
  }

  /** Records the size of the largest request for these traces. */
  note(target: DeliveryTarget, traces: readonly GenerationTrace[], bytes: number): void {
    this.learn(target, { ratio: bytes / traces.reduce((sum, trace) => sum + weightOf(trace), 0) });
  }

  /** Records that the platform rejected this many bytes as too large. */
  noteRejected(target: DeliveryTarget, bytes: number): void {
    this.learn(target, { bound: Math.min(bytes / SHRINKS_BY, this.boundOf(target)) });
  }

  noteAccepted(target: DeliveryTarget): void {
    const { bound } = this.learnedOf(target);
    if (bound === undefined) return;
    this.learn(target, { bound: Math.min(bound * GROWS_BY, target.kind.delivery.limits.maxBytes) });
  }

  private boundOf(target: DeliveryTarget): number {
    return this.learnedOf(target).bound ?? target.kind.delivery.limits.maxBytes;
  }

  private learnedOf(target: DeliveryTarget): LearnedSizes {
    return this.learned.get(versionKeyOf(target)) ?? {};
  }

  private learn(target: DeliveryTarget, sizes: LearnedSizes): void {
    this.learned.set(versionKeyOf(target), { ...this.learnedOf(target), ...sizes });
  }
}

/** A measure that grows with the size of a trace. */
export function weightOf({ input, chat }: GenerationTrace): number {
  let weight = AROUND;
  if (chat?.content) {
    mapTexts(chat.content, (text) => {
      weight += text.length;
      return text;
    });
  }
  for (const item of input?.items ?? []) {
    weight += typeof item === 'string' ? item.length : item.length * TOKEN;
  }
  return weight;
}
