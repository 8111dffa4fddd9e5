// The calls of one job: their bodies, the check of their answers, and their times.
import { createHistogram } from 'node:perf_hooks';
import { checkAnswer } from './known-vectors.mjs';

/** One answer in this many is kept whole and compared. */
const WHOLE_CHECK_EVERY = 500;
/** Bytes by which an answer may differ from the first one to the same body: ids and amounts vary. */
const LENGTH_TOLERANCE = 64;

export class Calls {
  #job;
  #requests;
  #lengths = [];
  #sent = 0;
  #inFlight = new Map();
  #histogram = createHistogram({ lowest: 1, highest: 120_000_000_000, figures: 3 });
  answered = 0;

  constructor(job) {
    this.#job = job;
    this.#requests = job.bodies.map((body) => requestBytes(job, body));
  }

  get sent() {
    return this.#sent;
  }

  /** `begunAt` is the due time of the call, which in an open loop may be in the past. */
  send(connection, begunAt) {
    const index = this.#sent % this.#requests.length;
    const isWhole = this.#lengths[index] === undefined || this.#sent % WHOLE_CHECK_EVERY === 0;
    this.#sent++;
    this.#inFlight.set(connection, { index, begunAt });
    connection.send(this.#requests[index], isWhole);
  }

  take(connection, head, length, body) {
    const now = performance.now();
    const { index, begunAt } = this.#inFlight.get(connection);
    this.#inFlight.delete(connection);
    this.#histogram.record(Math.max(Math.round((now - begunAt) * 1e6), 1));
    this.answered++;
    this.#check(index, head, length, body);
    return now;
  }

  #check(index, head, length, body) {
    const { status, bodies, checksVectors } = this.#job;
    if (!head.startsWith(`HTTP/1.1 ${status}`)) {
      throw new Error(
        `${this.#job.url} answered ${head.split('\r\n', 1)[0]} ${body?.toString().slice(0, 500) ?? ''}`,
      );
    }
    if (body !== null) {
      if (checksVectors) checkAnswer(bodies[index], body);
      this.#lengths[index] ??= length;
    }
    const known = this.#lengths[index];
    if (known !== undefined && Math.abs(length - known) > LENGTH_TOLERANCE)
      throw new Error(`${this.#job.url} answered with ${length} bytes instead of about ${known}`);
  }

  result(seconds) {
    const milliseconds = (percentile) => this.#histogram.percentile(percentile) / 1e6;
    return {
      calls: this.answered,
      seconds,
      rate: this.answered / seconds,
      p50: milliseconds(50),
      p99: milliseconds(99),
      p999: milliseconds(99.9),
    };
  }
}

function requestBytes({ url, method, headers }, body) {
  const { pathname, search, host } = new URL(url);
  const lines = Object.entries({
    host,
    ...headers,
    ...(method === 'GET'
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
