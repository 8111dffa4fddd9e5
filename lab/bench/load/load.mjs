// The load: calls over plain keep-alive connections, in a closed or an open loop.
import { Calls } from './calls.mjs';
import { Connection } from './connection.mjs';

/** Most connections that an open loop opens when answers fall behind. */
const OPEN_LOOP_CONNECTIONS = 512;

/** The shared part of both loops: connections, calls, and one end, good or bad. */
class Loop {
  connections = [];
  begunAt = 0;

  constructor(job) {
    this.job = job;
    this.calls = new Calls(job);
    this.ended = new Promise((resolve, reject) => {
      this.succeed = () => resolve(this.calls.result((performance.now() - this.begunAt) / 1000));
      this.fail = reject;
    });
  }

  async open() {
    const connection = new Connection(this.job, {
      // An error in the handling of an answer ends the job instead of the process.
      onAnswer: (...answer) => {
        try {
          this.onAnswer(...answer);
        } catch (error) {
          this.fail(error);
        }
      },
      onLost: (_connection, error) => this.fail(error),
    });
    this.connections.push(connection);
    return connection.opened();
  }

  async begin() {
    const opened = await Promise.all(Array.from({ length: this.job.connections }, () => this.open()));
    this.begunAt = performance.now();
    this.beginWith(opened);
  }

  close() {
    for (const connection of this.connections) connection.close();
  }
}

/**
 * Each connection sends its next call after the last answer, for `seconds`, or until every body was sent once when
 * `seconds` is null.
 */
class ClosedLoop extends Loop {
  #resting = 0;

  beginWith(connections) {
    for (const connection of connections) this.#sendOrRest(connection, performance.now());
  }

  onAnswer(connection, ...answer) {
    this.#sendOrRest(connection, this.calls.take(connection, ...answer));
  }

  #sendOrRest(connection, now) {
    const { seconds, bodies } = this.job;
    const isOver = seconds === null ? this.calls.sent >= bodies.length : now - this.begunAt >= seconds * 1000;
    if (!isOver) this.calls.send(connection, now);
    else if (++this.#resting === this.connections.length) this.succeed();
  }
}

/**
 * Calls begin at a fixed rate whatever happens to earlier ones, and each is timed from its due time. A stall
 * therefore counts in every call that was due while it lasted.
 */
class OpenLoop extends Loop {
  #free = [];
  /** The due times of calls that had no free connection. */
  #waiting = [];
  #due = 0;
  #timer;

  get #total() {
    return Math.round(this.job.rate * this.job.seconds);
  }

  beginWith(connections) {
    this.#free = connections;
    this.#tick();
  }

  onAnswer(connection, ...answer) {
    this.calls.take(connection, ...answer);
    this.#free.push(connection);
    this.#sendWaiting();
    if (this.calls.answered === this.#total) this.succeed();
  }

  close() {
    clearTimeout(this.#timer);
    super.close();
  }

  #tick() {
    const total = this.#total;
    const now = performance.now();
    for (let dueAt = this.#nextDue(); this.#due < total && dueAt <= now; dueAt = this.#nextDue()) {
      this.#due++;
      this.#waiting.push(dueAt);
    }
    this.#sendWaiting();
    if (this.#waiting.length > 0 && this.connections.length < OPEN_LOOP_CONNECTIONS) void this.#openOneMore();
    if (this.#due < total) this.#timer = setTimeout(() => this.#tick(), 1);
  }

  #nextDue() {
    return this.begunAt + (this.#due * 1000) / this.job.rate;
  }

  #sendWaiting() {
    while (this.#waiting.length > 0 && this.#free.length > 0)
      this.calls.send(this.#free.pop(), this.#waiting.shift());
  }

  async #openOneMore() {
    try {
      this.#free.push(await this.open());
      this.#sendWaiting();
    } catch (error) {
      this.fail(error);
    }
  }
}

/** Rejects at the first wrong answer: a gateway that answers wrongly has no speed. */
export async function runLoad(job) {
  const loop = job.rate === undefined ? new ClosedLoop(job) : new OpenLoop(job);
  try {
    const [, result] = await Promise.all([loop.begin(), loop.ended]);
    return result;
  } finally {
    loop.close();
  }
}
