// How each endpoint has been doing, as this process saw it: outcomes of the last 30 seconds, latency and throughput of
// the last 5 minutes. Source: docs/contract.md#routing.
import { EndpointPermits } from './endpoint-permits.js';
import { OutcomeHistory } from './outcome-history.js';

const OUTCOME_WINDOW = 30_000;
const SAMPLE_WINDOW = 300_000;
const MAX_SAMPLES = 500;
/** An outage needs this many failures, and this share of them, in the outcome window. */
const OUTAGE_FAILURES = 5;
const OUTAGE_SHARE = 0.5;
// While an endpoint is out, one call in this many milliseconds looks whether it is back.
const PROBE_INTERVAL = 5_000;

export const PERCENTILES = ['p50', 'p75', 'p90', 'p99'] as const;
export type Percentile = (typeof PERCENTILES)[number];
export type Percentiles = Readonly<Record<Percentile, number>>;

interface Sample {
  readonly at: number;
  /** Seconds. */
  readonly latency: number;
  /** Tokens a second; null where the upstream does not say how many there were. */
  readonly throughput: number | null;
}

/** Outcomes of one second: a busy endpoint has thousands. */
interface Second {
  readonly second: number;
  successes: number;
  failures: number;
}

/** The last call whose failure counts against the endpoint or its credential. */
export interface FailedCall {
  /** performance.now() */
  readonly at: number;
  readonly failureClass: string;
  /** Null: no response. */
  readonly status: number | null;
}

/** `now` is performance.now() in milliseconds everywhere, so that tests decide. */
export class EndpointHealth {
  private seconds: Second[] = [];
  private readonly samples: Sample[] = [];
  private oldestSample = 0;
  private lastProbeAt = -Infinity;
  /** Figures for reports; routing does not need them. */
  readonly history = new OutcomeHistory();
  lastFailure: FailedCall | null = null;

  constructor(readonly permits = new EndpointPermits()) {}

  /** `latencyMs` is that of the first content, `durationMs` that of all tokens. */
  recordSuccess(now: number, latencyMs: number, tokens: number | null, durationMs = latencyMs): void {
    this.secondOf(now).successes++;
    this.history.record(now, true);
    const throughput = tokens === null ? null : tokens / secondsOf(durationMs);
    this.samples[this.oldestSample] = { at: now, latency: secondsOf(latencyMs), throughput };
    this.oldestSample = (this.oldestSample + 1) % MAX_SAMPLES;
  }

  recordFailure(now: number): void {
    this.secondOf(now).failures++;
    this.history.record(now, false);
  }

  isOpen(now: number): boolean {
    const { successes, failures } = this.outcomes(now);
    return failures >= OUTAGE_FAILURES && failures >= (successes + failures) * OUTAGE_SHARE;
  }

  /** True once in an interval: the call that receives true probes the endpoint during its outage. */
  tryProbe(now: number): boolean {
    if (now - this.lastProbeAt < PROBE_INTERVAL) return false;
    this.lastProbeAt = now;
    return true;
  }

  /** Seconds; null without samples. */
  latency(now: number, window = SAMPLE_WINDOW): Percentiles | null {
    return this.percentiles(now - window, ({ latency }) => latency, 1);
  }

  /** Tokens a second, the fast ones first: 99 % of the calls reach p99. Null also where no call reported its tokens. */
  throughput(now: number, window = SAMPLE_WINDOW): Percentiles | null {
    return this.percentiles(now - window, ({ throughput }) => throughput, -1);
  }

  /** The share of successes in the outcome window; null without calls. */
  uptime(now: number): number | null {
    const { successes, failures } = this.outcomes(now);
    return successes + failures === 0 ? null : successes / (successes + failures);
  }

  private outcomes(now: number): Omit<Second, 'second'> {
    const oldest = Math.floor((now - OUTCOME_WINDOW) / 1000);
    const sums = { successes: 0, failures: 0 };
    for (const { second, successes, failures } of this.seconds) {
      if (second < oldest) continue;
      sums.successes += successes;
      sums.failures += failures;
    }
    return sums;
  }

  private secondOf(now: number): Second {
    const second = Math.floor(now / 1000);
    const newest = this.seconds.at(-1);
    if (newest?.second === second) return newest;
    const oldest = Math.floor((now - OUTCOME_WINDOW) / 1000);
    const created = { second, successes: 0, failures: 0 };
    this.seconds = [...this.seconds.filter((entry) => entry.second >= oldest), created];
    return created;
  }

  private percentiles(
    since: number,
    pick: (sample: Sample) => number | null,
    direction: 1 | -1,
  ): Percentiles | null {
    const sorted = this.samples
      .filter(({ at }) => at >= since)
      .map(pick)
      .filter((value) => value !== null)
      .toSorted((one, other) => direction * (one - other));
    if (sorted.length === 0) return null;
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { p50: at(0.5), p75: at(0.75), p90: at(0.9), p99: at(0.99) };
  }
}

function secondsOf(milliseconds: number): number {
  return Math.max(milliseconds / 1000, 0.001);
}
