// The load of streamed chats: connections that read one stream after the other, and time every chunk.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARK } from './chat-stream.mjs';

const READ_BYTES = 256 * 1024;
const MARK_BYTE = MARK.charCodeAt(0);
const LAST_CHUNK = '0\r\n\r\n';
const OK = 'HTTP/1.1 200';
/** Streams that are opened together, of those that stay open. */
const OPENED_AT_ONCE = 50;

const microseconds = (milliseconds) => Math.max(Math.round(milliseconds * 1_000), 1);
const histogram = () => createHistogram({ lowest: 1, highest: 600_000_000, figures: 3 });

class ChatConnection {
  #socket;
  #job;
  #onEnd;
  #onFirst;
  #sentAt = 0;
  #lastAt = 0;
  #chunks = 0;
  #end = '';
  #isAtStart = true;

  constructor(job, { onEnd, onFirst, onError }) {
    const { hostname, port } = new URL(job.url);
    this.#job = job;
    this.#onEnd = onEnd;
    this.#onFirst = onFirst;
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer,
        callback: (length) => {
          try {
            this.#read(buffer.subarray(0, length));
          } catch (error) {
            onError(error);
          }
          return true;
        },
      },
    });
    this.#socket.on('error', onError);
    this.#socket.on('close', () => onError(new Error('a connection was closed')));
  }

  opened() {
    return once(this.#socket, 'connect');
  }

  send(bytes) {
    this.#sentAt = performance.now();
    this.#lastAt = 0;
    this.#chunks = 0;
    this.#end = '';
    this.#isAtStart = true;
    this.#socket.write(bytes);
  }

  close() {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #read(bytes) {
    const now = performance.now();
    if (this.#isAtStart) {
      this.#isAtStart = false;
      const start = bytes.toString('latin1', 0, 500);
      if (!start.startsWith(OK)) throw new Error(`${this.#job.url} answered ${start}`);
    }
    for (let at = bytes.indexOf(MARK_BYTE); at >= 0; at = bytes.indexOf(MARK_BYTE, at + 1)) this.#take(now);
    this.#end = (this.#end + bytes.latin1Slice(Math.max(bytes.length - LAST_CHUNK.length, 0))).slice(
      -LAST_CHUNK.length,
    );
    if (this.#end !== LAST_CHUNK) return;
    const { chunks, repeatedTexts = 0 } = this.#job;
    const wanted = chunks * (1 + repeatedTexts);
    if (this.#chunks !== wanted) throw new Error(`a stream had ${this.#chunks} of ${wanted} marks`);
    this.#onEnd(this, now);
  }

  #take(now) {
    const { firsts, gaps, chunks } = this.#job;
    if (this.#chunks++ === 0) {
      firsts.record(microseconds(now - this.#sentAt));
      this.#onFirst?.();
    } else if (this.#chunks <= chunks) gaps.record(microseconds(now - this.#lastAt));
    this.#lastAt = now;
  }
}

function requestBytes({ url, headers, body }) {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({
    host,
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

let held = [];

/** Ends the streams that stay open. */
export function releaseStreams() {
  for (const connection of held) connection.close();
  held = [];
}

/** Opens streams one after the other, and resolves when each has its first chunk. They stay open. */
async function holdStreams(job, bytes) {
  const failures = [];
  const waiting = new Set();
  for (let opened = 0; opened < job.connections; opened++) {
    let isOpen;
    const first = new Promise((resolve) => (isOpen = resolve));
    const fail = (error) => {
      failures.push(error);
      isOpen();
    };
    const connection = new ChatConnection(job, {
      onFirst: isOpen,
      onEnd: () => fail(new Error('a stream that should stay open has ended')),
      onError: fail,
    });
    held.push(connection);
    await connection.opened();
    connection.send(bytes);
    waiting.add(first);
    if (waiting.size < OPENED_AT_ONCE) continue;
    await Promise.all(waiting);
    waiting.clear();
  }
  await Promise.all(waiting);
  if (failures.length > 0) throw failures[0];
  return { calls: job.connections };
}

/**
 * Each connection begins its next stream when the last one has ended, for `seconds`. The first ones begin evenly over
 * `spreadOver` milliseconds: streams of equal length that begin at once stay together, and each waits for all others.
 */
async function repeatStreams(job, bytes) {
  const connections = [];
  let calls = 0;
  let fail;
  const failed = new Promise((_resolve, reject) => (fail = reject));
  try {
    const streams = Array.from({ length: job.connections }, () => {
      let finish;
      const finished = new Promise((resolve) => (finish = resolve));
      const connection = new ChatConnection(job, {
        onEnd: (ended, now) => {
          calls++;
          if (now - begunAt < job.seconds * 1_000) ended.send(bytes);
          else {
            // The server would close it while the last streams run.
            ended.close();
            finish();
          }
        },
        onError: fail,
      });
      connections.push(connection);
      return { connection, finished };
    });
    await Promise.race([failed, Promise.all(connections.map((connection) => connection.opened()))]);
    const begunAt = performance.now();
    const each = job.spreadOver / job.connections;
    const begun = streams.map(({ connection }, index) =>
      sleep(index * each).then(() => connection.send(bytes)),
    );
    await Promise.race([failed, Promise.all(begun)]);
    await Promise.race([failed, Promise.all(streams.map(({ finished }) => finished))]);
    const seconds = (performance.now() - begunAt) / 1_000;
    const { firsts, gaps, chunks } = job;
    const figure = (of, percentile) => of.percentile(percentile) / 1_000;
    return {
      calls,
      seconds,
      rate: (calls * chunks) / seconds,
      p50: figure(firsts, 50),
      p99: figure(firsts, 99),
      gapP50: figure(gaps, 50),
      gapP99: figure(gaps, 99),
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Rejects at the first wrong answer. */
export function runChatLoad(job) {
  const timed = { ...job, firsts: histogram(), gaps: histogram() };
  const bytes = requestBytes(job);
  return job.staysOpen ? holdStreams(timed, bytes) : repeatStreams(timed, bytes);
}
