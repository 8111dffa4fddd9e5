// Sends the traces of one batch in groups of whole sessions, at the same time, and joins their results.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { BatchSender, SendResult, TraceResult } from '../batches/batch-sender.js';
import { groupBySession } from '../batches/session-groups.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import { RequestWindow } from './request-window.js';

export type SendFailure = NonNullable<SendResult['failure']>;
export type DeliveryResults = ReadonlyMap<string, TraceResult>;

export interface Attempt {
  /** By the generation's id. */
  readonly results: DeliveryResults;
  readonly rejected: number;
  readonly rejection?: string | undefined;
  readonly failure: SendFailure | null;
}

export const NOTHING: Attempt = { results: new Map(), rejected: 0, failure: null };

export class ParallelSender {
  readonly window: RequestWindow;

  constructor(
    private readonly sender: Pick<BatchSender, 'send' | 'countRequests'>,
    maxRequests: number,
  ) {
    this.window = new RequestWindow(maxRequests);
  }

  /** Sends the groups at the same time, and waits for all of them. */
  async send(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const groups = this.groupsOf(target, traces);
    const attempts = await Promise.allSettled(groups.map((group) => this.sendGroup(target, group, signal)));
    let whole = NOTHING;
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') throw attempt.reason;
      whole = { ...join(whole, attempt.value), failure: worse(whole.failure, attempt.value.failure) };
    }
    return whole;
  }

  private groupsOf(target: DeliveryTarget, traces: readonly GenerationTrace[]) {
    const { maxTraces, parallelRequests } = target.kind.delivery.limits;
    if (parallelRequests !== undefined) return chunk(traces, maxTraces);
    const { requests } = this.window;
    if (requests === 1) return [traces];
    const wanted = Math.max(Math.ceil(traces.length / maxTraces), this.sender.countRequests(target, traces));
    return groupBySession(traces, { groups: Math.min(requests, wanted), maxTraces });
  }

  /** Sends the requests of one group one after the other, up to the first that does not settle all of its traces. */
  private async sendGroup(
    target: DeliveryTarget,
    group: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    let whole = NOTHING;
    for (const part of chunk(group, target.kind.delivery.limits.maxTraces)) {
      const { settled, rejected, rejection, failure } = await this.sender.send(target, part, signal);
      const results = new Map<string, TraceResult>();
      for (const [index, result] of settled.entries()) {
        const trace = part[index];
        if (trace) results.set(trace.generationId, result);
      }
      whole = join(whole, { results, rejected, rejection, failure });
      if (failure || settled.length < part.length) break;
    }
    return whole;
  }
}

/** The failure that asks for the longer pause. */
function worse(one: SendFailure | null, other: SendFailure | null): SendFailure | null {
  if (!one || !other) return one ?? other;
  if (one.class !== other.class) return one.class === 'blocked' ? one : other;
  return (other.retryAfter ?? 0) > (one.retryAfter ?? 0) ? other : one;
}

function chunk<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const chunks: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}

/** Joins two consecutive attempts: the failure of the second one is that of both. */
export function join(first: Attempt, second: Attempt): Attempt {
  return {
    results: new Map([...first.results, ...second.results]),
    rejected: first.rejected + second.rejected,
    rejection: second.rejection ?? first.rejection,
    failure: second.failure,
  };
}
