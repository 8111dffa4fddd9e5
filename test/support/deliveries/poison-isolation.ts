// An isolation of poison traces in front of a platform that a test scripts.
import type { GenerationTrace } from '../../../src/domain/generations/generation-trace.js';
import type { SendResult, TraceResult } from '../../../src/deliveries/batches/batch-sender.js';
import type { DeliveryTarget } from '../../../src/deliveries/workspace-destinations.js';
import type { Attempt } from '../../../src/deliveries/consumers/parallel-sender.js';
import { PoisonIsolation } from '../../../src/deliveries/consumers/poison-isolation.js';
import type { IsolationOptions, SentTraces } from '../../../src/deliveries/consumers/poison-isolation.js';
import { generationTrace } from './generation-trace.js';

export type Answer = TraceResult['outcome'] | number;

export const DELIVERED: TraceResult = { outcome: 'delivered' };
export const REJECTED = { outcome: 'refused', message: 'HTTP 400: no' } as const;
export const CLAIM = { failures: 0, isPaused: false, consecutiveRejections: 0 };

function failureOf(status: number): SendResult['failure'] {
  return { class: status < 405 ? 'blocked' : 'retry', status, message: `HTTP ${status}: oops` };
}

export const traces = (count: number): GenerationTrace[] =>
  Array.from({ length: count }, (_, index) => generationTrace(index + 1));
export const ids = (list: readonly GenerationTrace[]): string[] =>
  list.map(({ generationId }) => generationId);

export interface TestIsolation {
  readonly sender: PoisonIsolation;
  readonly requests: (readonly GenerationTrace[])[];
  /** Sends as many traces as requested and counts a failure, like a destination consumer. */
  readonly send: (waiting: readonly GenerationTrace[]) => Promise<SentTraces>;
  readonly sendAgain: (letters: readonly GenerationTrace[]) => Promise<Attempt>;
  readonly sizeOf: () => number;
}

/**
 * A platform whose answer is decided by the first trace that it does not accept. All traces before it are delivered, unless
 * its requests are atomic.
 */
export function createIsolation(
  answerTo: (trace: GenerationTrace) => Answer,
  limits = {},
  claim = CLAIM,
  { isAtomic = false, ...options }: Partial<IsolationOptions> & { readonly isAtomic?: boolean } = {},
): TestIsolation {
  const requests: (readonly GenerationTrace[])[] = [];
  const sender = new PoisonIsolation(
    {
      send: async (_target, group) => {
        requests.push(group);
        const settled: TraceResult[] = [];
        for (const trace of group) {
          const answer = answerTo(trace);
          if (typeof answer === 'number') {
            return { settled: isAtomic ? [] : settled, rejected: 0, failure: failureOf(answer) };
          }
          settled.push(answer === 'delivered' ? DELIVERED : { ...REJECTED, outcome: answer });
        }
        return { settled, rejected: 0, failure: null };
      },
      countRequests: () => 1,
    },
    claim,
    { maxRequests: 4, ahead: new Map(), ...options },
  );
  const target = { kind: { delivery: { limits: { maxTraces: 100, ...limits } } } } as DeliveryTarget;
  const { signal } = new AbortController();
  const send: TestIsolation['send'] = async (waiting) => {
    const { maxTraces } = sender.batchBounds(target);
    const sent = await sender.send(target, waiting.slice(0, maxTraces), signal);
    if (sent.failure) sender.failures++;
    else if (!sent.hasRest) sender.noteBacklog(waiting.length > maxTraces);
    return sent;
  };
  const sendAgain: TestIsolation['sendAgain'] = (letters) => sender.sendAgain(target, letters, signal);
  return { sender, requests, send, sendAgain, sizeOf: () => sender.batchBounds(target).maxTraces };
}

/** Sends all of them, batch by batch, as long as there are no failures. */
export async function drain(
  { send }: Pick<TestIsolation, 'send'>,
  waiting: readonly GenerationTrace[],
): Promise<number[]> {
  const sizes: number[] = [];
  let rest = waiting;
  while (rest.length > 0) {
    const { results, failure } = await send(rest);
    if (failure) throw new Error(failure.message);
    sizes.push(results.size);
    rest = rest.filter(({ generationId }) => !results.has(generationId));
  }
  return sizes;
}
