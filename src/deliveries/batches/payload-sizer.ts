// How large the requests of each destination come out, and how large it takes them, learned from those before, so that
// few are encoded in vain.
import { Injectable } from '@nestjs/common';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { DeliveryTarget } from '../workspace-destinations.js';

// Of what a platform takes: room for traces whose text is escaped more than that of those before.
const AIMED_AT = 0.9;
// After a request that was too large, and with every one that was taken since: what stands in front of a platform, a
// proxy most of all, may take less than the platform, and may be changed. So one of some forty requests is refused.
const SHRINKS_BY = 2;
const GROWS_BY = 1.02;
// About what is said of a trace beside its input, and of a token.
const AROUND = 1_000;
const TOKEN = 6;

@Injectable()
export class PayloadSizer {
  /** Bytes of a request for each unit of weight. */
  private readonly ratios = new WeakMap<DeliveryTarget, number>();
  /** Bytes that a destination most likely takes, where it has refused what its kind takes. */
  private readonly bounds = new WeakMap<DeliveryTarget, number>();

  /** Runs of these traces that most likely fit into one request each; one run as long as nothing is known. */
  split(target: DeliveryTarget, traces: readonly GenerationTrace[]): readonly (readonly GenerationTrace[])[] {
    const most = (AIMED_AT * this.boundOf(target)) / (this.ratios.get(target) ?? 0);
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

  /** What the largest request that these traces were encoded to came to. */
  note(target: DeliveryTarget, traces: readonly GenerationTrace[], bytes: number): void {
    this.ratios.set(target, bytes / traces.reduce((sum, trace) => sum + weightOf(trace), 0));
  }

  /** The platform has refused so many bytes as too large. */
  noteRejected(target: DeliveryTarget, bytes: number): void {
    this.bounds.set(target, Math.min(bytes / SHRINKS_BY, this.boundOf(target)));
  }

  noteAccepted(target: DeliveryTarget): void {
    const bound = this.bounds.get(target);
    if (bound === undefined) return;
    this.bounds.set(target, Math.min(bound * GROWS_BY, target.kind.delivery.limits.maxBytes));
  }

  private boundOf(target: DeliveryTarget): number {
    return this.bounds.get(target) ?? target.kind.delivery.limits.maxBytes;
  }
}

/** Grows with what a trace takes up. */
function weightOf({ input }: GenerationTrace): number {
  let weight = AROUND;
  for (const item of input?.items ?? []) {
    weight += typeof item === 'string' ? item.length : item.length * TOKEN;
  }
  return weight;
}
