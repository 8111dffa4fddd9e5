// Writes bytes to a listening socket in given pieces, pauses and endings, and reads the HTTP responses.
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DEADLINE } from './budget.js';
import type { FuzzAnswer } from './findings.js';

export interface RawRequest {
  /** Written one after the other, each by itself. */
  readonly pieces: readonly Buffer[];
  /** After the last piece: no more data, a torn connection, or an open one that waits for a response. */
  readonly ending: 'finish' | 'reset' | 'wait';
}

export interface RawOutcome {
  readonly answers: readonly FuzzAnswer[];
  /** The bytes behind the last complete response. */
  readonly rest: string;
  readonly isClosed: boolean;
}

// Milliseconds for which a connection with half a request is watched; the service may wait for longer.
const WATCHED_WAITING = 150;

/** Resolves when the server has closed, when it has answered what was whole, or at once after a reset. */
export function exchangeRaw(origin: string, { pieces, ending }: RawRequest): Promise<RawOutcome> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.setNoDelay(true);
    const finish = (isClosed: boolean): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve({ ...readAnswers(Buffer.concat(chunks)), isClosed });
    };
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`neither an answer nor an end within ${DEADLINE} ms`));
    }, DEADLINE);
    socket.on('data', (chunk) => void chunks.push(chunk));
    socket.on('end', () => finish(true));
    // The server tears down what it does not want to hear: an end like any other.
    socket.on('error', () => finish(true));
    socket.on('connect', () => {
      void (async () => {
        for (const piece of pieces) {
          if (socket.destroyed || !socket.writable) return;
          socket.write(piece);
          await nextTurn();
        }
        if (ending === 'finish') socket.end();
        if (ending === 'reset') {
          socket.resetAndDestroy();
          finish(true);
        }
        if (ending === 'wait') setTimeout(finish, WATCHED_WAITING, false);
      })();
    });
  });
}

/** The answers in these bytes, one behind the other. */
export function readAnswers(bytes: Buffer): Pick<RawOutcome, 'answers' | 'rest'> {
  const answers: FuzzAnswer[] = [];
  let at = 0;
  for (;;) {
    const answer = readAnswer(bytes, at);
    if (answer === null) return { answers, rest: bytes.toString('latin1', at) };
    at = answer.end;
    // 100 Continue is no answer yet.
    if (answer.status >= 200) answers.push(answer);
  }
}

function readAnswer(bytes: Buffer, start: number): (FuzzAnswer & { readonly end: number }) | null {
  const endOfHead = bytes.indexOf('\r\n\r\n', start);
  if (endOfHead === -1) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', start, endOfHead).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) return null;
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = readBody(bytes, endOfHead + 4, headers);
  return body && { status, headers, ...body };
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
): { readonly body: Buffer; readonly end: number } | null {
  if (headers['transfer-encoding'] !== 'chunked') {
    const end = start + Number(headers['content-length'] ?? 0);
    return end > bytes.length ? null : { body: bytes.subarray(start, end), end };
  }
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const endOfSize = bytes.indexOf('\r\n', at);
    if (endOfSize === -1) return null;
    const size = Number.parseInt(bytes.toString('latin1', at, endOfSize), 16);
    const end = endOfSize + 2 + size + 2;
    if (Number.isNaN(size) || end > bytes.length) return null;
    chunks.push(bytes.subarray(endOfSize + 2, endOfSize + 2 + size));
    if (size === 0) return { body: Buffer.concat(chunks), end };
    at = end;
  }
}
