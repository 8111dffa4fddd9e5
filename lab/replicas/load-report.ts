// The report of the load's clients: answers with their cost, refusals, calls with an unknown outcome.

export interface SeenAnswer {
  readonly generation: string;
  readonly cost: number;
  /** performance.now() */
  readonly at: number;
  readonly latency: number;
}

/** A stream that ended with an error after its headers. */
export interface FailedStream {
  readonly generation: string;
  readonly code: number;
}

export interface LoadReport {
  readonly seen: SeenAnswer[];
  /** How often each status came that is not 200, as a response or as the error of a stream. */
  readonly rejections: Map<number, number>;
  /** Calls whose connection broke before the answer was whole. */
  broken: number;
  /** Answers that should never have come, in words. */
  readonly wrong: string[];
  /** Milliseconds that refusals with 503 took. */
  readonly rejectionLatencies: number[];
  /** Counted among the rejections. */
  readonly failedStreams: FailedStream[];
  /** The text of the last one. */
  lastRejection: string;
  /** Generations of calls that their client left; null: before the headers. */
  readonly left: (string | null)[];
  /** Streams whose content has begun and not ended. */
  streaming: number;
}

// Possible statuses while something is broken. Never 500, never another 4xx.
const EXPECTED = new Set([402, 408, 429, 502, 503, 524, 529]);
const MAX_WRONG = 20;

export function createReport(): LoadReport {
  return {
    seen: [],
    rejections: new Map(),
    broken: 0,
    wrong: [],
    rejectionLatencies: [],
    failedStreams: [],
    lastRejection: '',
    left: [],
    streaming: 0,
  };
}

export function complain({ wrong }: LoadReport, text: string): void {
  if (wrong.length < MAX_WRONG) wrong.push(text);
}

export function noteRejection(report: LoadReport, status: number, latency: number, text: string): void {
  report.rejections.set(status, (report.rejections.get(status) ?? 0) + 1);
  report.lastRejection = text.slice(-300);
  if (status === 503) report.rejectionLatencies.push(latency);
  if (!EXPECTED.has(status)) complain(report, `status ${status}: ${text.slice(0, 200)}`);
}

/** The id in a generation's header. */
export function toUuid(header: string): string {
  return header.replace(/^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function totalRejections({ rejections }: LoadReport): number {
  return [...rejections.values()].reduce((sum, count) => sum + count, 0);
}
