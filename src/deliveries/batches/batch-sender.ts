// Sends the traces of one batch and returns a result for each. Splits requests that are too large, and halves rejected
// ones to isolate the traces that the platform never accepts.
import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import type { DeliveryRequest } from '../../destination-kinds/shared/delivery.js';
import { Tracing } from '../../config/tracing/tracing.js';
import { Clock } from '../../domain/clock.js';
import type { DeliveryFailure } from '../../domain/destinations/delivery.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { WorkspaceDestinationsCache, versionKeyOf } from '../workspace-destinations.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { PlatformClient } from './platform-client.js';
import type { FinalOutcome } from './platform-client.js';
import { PayloadSizer } from './payload-sizer.js';
import { hasContent, smallerTrace } from './smaller-trace.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';

/** The final result of one trace. */
export type TraceResult =
  { readonly outcome: 'delivered' } | { readonly outcome: 'refused' | 'too_large'; readonly message: string };

export interface SendResult {
  /** Results of the first traces, in order. */
  readonly settled: readonly TraceResult[];
  /** Traces that the platform dropped although it accepted the request. */
  readonly rejected: number;
  /** The platform's last reason for dropping traces. */
  readonly rejection?: string | undefined;
  /** Why the rest remains to be sent. */
  readonly failure:
    | (DeliveryFailure & {
        readonly retryAfter?: number;
        /** The platform has answered, and has rejected many traces in a row. */
        readonly refusesAll?: boolean;
      })
    | null;
}

/** Consecutive rejected traces after which the destination is at fault, not the traces. */
export const MAX_CONSECUTIVE_REJECTIONS = 20;

// Traces. Beyond this bound the oldest are sent again as a whole.
const MAX_ACCEPTED = 50_000;

const NOT_SENT: SendResult = { settled: [], rejected: 0, failure: null };

@Injectable()
export class BatchSender {
  private readonly logger = new Logger(BatchSender.name);

  /** Accepted requests of each trace whose batch takes several requests. Those requests are not sent again. */
  private readonly accepted = new LRUCache<string, number>(capacityFor(MAX_ACCEPTED));

  constructor(
    private readonly destinations: WorkspaceDestinationsCache,
    private readonly exchange: PlatformClient,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
    private readonly yieldQueue: YieldQueue,
    private readonly sizes: PayloadSizer,
  ) {}

  /**
   * Without a failure, `settled` covers all traces, unless sending stopped early: after too many rejected traces in a
   * row, or because the destination changed. The caller then plans the rest again.
   */
  async send(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<SendResult> {
    return this.tracing.span('deliver', { kind: 'client', isRoot: true }, async (span) => {
      const parts = this.runsOf(target, traces).flatMap((run) => this.sizes.split(target, run));
      const result = await this.sendParts(target, parts, signal);
      const { settled, failure } = result;
      span?.setAttributes({
        'signalbox.destination_id': target.destination.id,
        'signalbox.destination_kind': target.kind.type,
        'signalbox.traces': traces.length,
        'signalbox.delivered': settled.filter(({ outcome }) => outcome === 'delivered').length,
        ...(failure && { 'error.type': failure.class }),
        ...(failure?.status && { 'http.response.status_code': failure.status }),
      });
      return result;
    });
  }

  /** The requests that these traces most likely take, by the size of earlier ones. */
  countRequests(target: DeliveryTarget, traces: readonly GenerationTrace[]): number {
    return this.sizes.split(target, traces).length;
  }

  /** `maxBytes`: a larger request is not sent while the traces have content that may be omitted. */
  private async sendAll(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
    maxBytes = Infinity,
  ): Promise<SendResult> {
    if (!(await this.isCurrent(target))) return NOT_SENT;
    const requests = await this.encode(target, traces);
    if (requests === null) return this.sendAround(target, traces, 'the trace cannot be encoded', signal);
    const bytes = Math.max(0, ...requests.map(({ body = '' }) => Buffer.byteLength(body)));
    this.sizes.note(target, traces, bytes);
    if (bytes > target.kind.delivery.limits.maxBytes) {
      return this.sendSmaller(target, traces, 'the request is larger than the platform accepts', signal);
    }
    if (bytes > maxBytes && traces.some(hasContent)) {
      return this.sendSmaller(target, traces, 'the request is too large', signal, maxBytes);
    }
    let rejected = 0;
    let rejection: string | undefined;
    const skipped = this.acceptedOf(target, traces);
    for (const [index, request] of requests.entries()) {
      if (index < skipped) continue;
      // A change since the last request is in force: disabled, private, or with other credentials.
      if (!(await this.isCurrent(target))) return NOT_SENT;
      const outcome = await this.exchange.deliver(target, request, signal);
      switch (outcome.outcome) {
        case 'delivered':
          this.sizes.noteAccepted(target);
          rejected += outcome.rejected ?? 0;
          if (outcome.rejected) rejection = outcome.reason;
          if (requests.length > 1) this.noteAccepted(target, traces, index + 1, requests.length);
          break;
        case 'too_large': {
          const size = Buffer.byteLength(request.body ?? '');
          this.sizes.noteRejected(target, size);
          return this.sendSmaller(target, traces, outcome.reason, signal, size / 2);
        }
        case 'refused':
          return this.sendAround(target, traces, outcome.reason, signal);
        case 'retry':
        case 'blocked':
          return { settled: [], rejected: 0, failure: toFailure(outcome) };
      }
    }
    // A platform that drops everything has rejected it, with whatever status: its traces count like other rejected ones.
    if (rejected >= traces.length) {
      const message = rejection ?? 'all traces were rejected';
      return { settled: traces.map(() => ({ outcome: 'refused', message })), rejected: 0, failure: null };
    }
    return { settled: traces.map(() => ({ outcome: 'delivered' })), rejected, rejection, failure: null };
  }

  /** Reads the cache, and the database only after a change in the workspace. */
  private async isCurrent({ destination: { id, workspaceId, version } }: DeliveryTarget): Promise<boolean> {
    const destinations = await this.destinations.find(workspaceId);
    return destinations?.targets.get(id)?.destination.version === version;
  }

  /** Runs of traces that lack the same requests. */
  private runsOf(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
  ): readonly (readonly GenerationTrace[])[] {
    if (this.accepted.size === 0) return [traces];
    const runs: GenerationTrace[][] = [];
    let last = -1;
    for (const trace of traces) {
      const accepted = this.acceptedOf(target, [trace]);
      const run = runs.at(-1);
      if (run && accepted === last) run.push(trace);
      else runs.push([trace]);
      last = accepted;
    }
    return runs;
  }

  /** All of `traces` have the same count. */
  private acceptedOf(target: DeliveryTarget, [trace]: readonly GenerationTrace[]): number {
    return (trace && this.accepted.get(acceptedKey(target, trace))) ?? 0;
  }

  private noteAccepted(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    count: number,
    all: number,
  ): void {
    for (const trace of traces) {
      if (count < all) this.accepted.set(acceptedKey(target, trace), count);
      else this.accepted.delete(acceptedKey(target, trace));
    }
  }

  /**
   * Returns null when a trace makes the encoder fail: a defect that must not hold up the other traces. Text is encoded
   * to bytes once, because it is measured, often signed, and sent.
   */
  private async encode(
    { destination, kind, config }: DeliveryTarget,
    traces: readonly GenerationTrace[],
  ): Promise<readonly DeliveryRequest[] | null> {
    const context = { destinationId: destination.id, now: this.clock.now() };
    await this.yieldQueue.enter(destination.accountId, 'delivery');
    try {
      const requests = await kind.delivery.encode(config, traces, context);
      return requests.map((request) => {
        const { method, url, headers, body } = request;
        return typeof body === 'string' ? { method, url, headers, body: Buffer.from(body) } : request;
      });
    } catch (error) {
      this.logger.error({ destinationId: destination.id, error }, 'failed to encode traces; isolating them');
      return null;
    }
  }

  /** Halves the traces to isolate the one that cannot be delivered. */
  private async sendAround(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    message: string,
    signal: AbortSignal,
  ): Promise<SendResult> {
    if (traces.length > 1) return this.sendParts(target, halvesOf(traces), signal);
    return { settled: [{ outcome: 'refused', message }], rejected: 0, failure: null };
  }

  /** `maxBytes`: of a request with one trace, so that a few requests find the size that the platform accepts. */
  private async sendSmaller(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    reason: string,
    signal: AbortSignal,
    maxBytes?: number,
  ): Promise<SendResult> {
    if (traces.length > 1) {
      const parts = this.sizes.split(target, traces);
      return this.sendParts(target, parts.length > 1 ? parts : halvesOf(traces), signal);
    }
    const [trace] = traces;
    const smaller = trace ? smallerTrace(trace) : null;
    if (smaller) return this.sendAll(target, [smaller], signal, maxBytes);
    return { settled: [{ outcome: 'too_large', message: reason }], rejected: 0, failure: null };
  }

  /** Sends the parts one by one, so that settled traces are always the first ones. */
  private async sendParts(
    target: DeliveryTarget,
    parts: readonly (readonly GenerationTrace[])[],
    signal: AbortSignal,
  ): Promise<SendResult> {
    const settled: TraceResult[] = [];
    let rejected = 0;
    let rejection: string | undefined;
    for (const part of parts) {
      const sent = await this.sendAll(target, part, signal);
      settled.push(...sent.settled);
      rejected += sent.rejected;
      rejection = sent.rejection ?? rejection;
      if (sent.failure) return { settled, rejected, rejection, failure: sent.failure };
      if (sent.settled.length < part.length || rejectedAtEnd(settled) >= MAX_CONSECUTIVE_REJECTIONS) break;
    }
    return { settled, rejected, rejection, failure: null };
  }
}

function acceptedKey(target: DeliveryTarget, { generationId }: GenerationTrace): string {
  return `${versionKeyOf(target)}:${generationId}`;
}

function halvesOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const middle = items.length >> 1;
  return [items.slice(0, middle), items.slice(middle)];
}

function toFailure(outcome: Extract<FinalOutcome, { readonly outcome: 'retry' | 'blocked' }>) {
  return {
    class: outcome.outcome,
    status: outcome.status,
    message: outcome.reason,
    ...('retryAfter' in outcome && outcome.retryAfter !== undefined
      ? { retryAfter: outcome.retryAfter }
      : {}),
  };
}

type Rejection = Exclude<TraceResult, { readonly outcome: 'delivered' }>;

/** A trace that is too large counts: a proxy may answer 413 to everything. */
export function isRejection(result: TraceResult | undefined): result is Rejection {
  return result !== undefined && result.outcome !== 'delivered';
}

/** The number of rejected traces at the end of a run. */
export function rejectedAtEnd(settled: readonly TraceResult[]): number {
  const last = settled.findLastIndex((result) => !isRejection(result));
  return settled.length - 1 - last;
}
