// Attacks of one tenant, as attacker-process.mjs runs them. Every one is bounded in count and ends by itself or when its
// signal aborts, whichever is first. Bodies are built before they are sent: an attack costs its sender little.
import { setMaxListeners } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { percentile } from '../support/statistics.js';

export interface AttackTarget {
  readonly baseUrl: string;
  /** The attacker's keys. */
  readonly managementKey: string;
  readonly apiKey: string;
}

/** Counts and milliseconds by name; `status 503` counts answers. */
export type AttackFigures = Readonly<Record<string, number>>;

type Attack<Parameters> = (
  target: AttackTarget,
  parameters: Parameters,
  signal: AbortSignal,
) => Promise<AttackFigures>;

const rest = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  pause(milliseconds, undefined, { signal }).catch(() => undefined);

export interface ProbeParameters {
  readonly path: string;
  /** Milliseconds between probes. */
  readonly every: number;
}

/** Asks for the health of the process: the answer takes as long as the event loop is held. */
const probe: Attack<ProbeParameters> = async ({ baseUrl }, { path, every }, signal) => {
  const agent = new Agent({ connections: 1, pipelining: 1 });
  const latencies: number[] = [];
  let failed = 0;
  const url = new URL(path, baseUrl).href;
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      // Bounded by the signal as well: a loop that is held for ever has been seen by then.
      const { body } = await request(url, { dispatcher: agent, headersTimeout: 60_000, signal });
      await body.dump();
    } catch {
      if (!signal.aborted) failed++;
    }
    latencies.push(performance.now() - startedAt);
    await rest(every, signal);
  }
  await agent.destroy();
  return {
    probes: latencies.length,
    failed,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    longest: Math.max(0, ...latencies),
  };
};

export interface StormRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly key: 'management' | 'inference' | 'none';
  /** Instead of the attacker's own. */
  readonly bearer?: string;
}

export interface StormParameters {
  /** Sent in turn. */
  readonly requests: readonly StormRequest[];
  readonly clients: number;
  /** Over all clients. */
  readonly most: number;
  /** Milliseconds between the requests of one client. */
  readonly pause: number;
  /** Milliseconds that an answer is waited for. */
  readonly timeout: number;
}

/** Requests as fast as a number of clients can make them. */
const storm: Attack<StormParameters> = async (target, parameters, signal) => {
  const { requests, clients, most, pause: between, timeout } = parameters;
  const agent = new Agent({ connections: clients, headersTimeout: timeout, bodyTimeout: timeout });
  const counts = new Map<string, number>();
  const latencies: number[] = [];
  let sent = 0;
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const run = async (): Promise<void> => {
    while (!signal.aborted && sent < most) {
      const next = requests[sent++ % requests.length];
      if (!next) return;
      const startedAt = performance.now();
      try {
        const { statusCode, body } = await request(`${target.baseUrl}${next.path}`, {
          method: next.method,
          dispatcher: agent,
          headers: { 'content-type': 'application/json', ...authorizationOf(target, next) },
          body: next.body ?? null,
          signal,
        });
        await body.dump({ limit: 64 * 1024 * 1024 });
        count(`status ${statusCode}`);
      } catch {
        count(signal.aborted ? 'unanswered' : 'broken');
      }
      latencies.push(performance.now() - startedAt);
      await rest(between, signal);
    }
  };
  await Promise.all(Array.from({ length: clients }, run));
  await agent.destroy();
  return {
    ...Object.fromEntries(counts),
    sent: Math.min(sent, most),
    p50: percentile(latencies, 0.5),
    longest: Math.max(0, ...latencies),
  };
};

function authorizationOf(
  { managementKey, apiKey }: AttackTarget,
  { key, bearer }: StormRequest,
): Readonly<Record<string, string>> {
  if (bearer !== undefined) return { authorization: `Bearer ${bearer}` };
  if (key === 'none') return {};
  return { authorization: `Bearer ${key === 'management' ? managementKey : apiKey}` };
}

interface OpenSocket {
  readonly socket: Socket;
  readonly received: () => number;
}

function open(baseUrl: string, text: string | Buffer, reads: boolean): OpenSocket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let received = 0;
  socket.on('error', () => undefined);
  if (reads) socket.on('data', (bytes: Buffer) => (received += bytes.length));
  else socket.pause();
  socket.write(text);
  return { socket, received: () => received };
}

function headOf(
  target: AttackTarget,
  path: string,
  key: 'management' | 'inference',
  framing: string,
): string {
  const bearer = key === 'management' ? target.managementKey : target.apiKey;
  return (
    `POST ${new URL(target.baseUrl).pathname}${path} HTTP/1.1\r\nhost: attack\r\n` +
    `authorization: Bearer ${bearer}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`
  );
}

export interface SlowUploadParameters {
  /** Bytes that are announced, one connection each, in this order: what is left of a bound is filled by smaller ones. */
  readonly embeddings: readonly number[];
  readonly operations: readonly number[];
  /** Milliseconds between the bytes that are sent. */
  readonly every: number;
}

// Milliseconds between one connection and the next: the service takes them in their order.
const BETWEEN_CONNECTIONS_MS = 20;
const BETWEEN_UNREAD_MS = 500;

/** Announces bodies and sends a byte at a time. One that is answered or closed is announced again. */
const slowUploads: Attack<SlowUploadParameters> = async (target, parameters, signal) => {
  const { embeddings, operations, every } = parameters;
  const bodies = [
    ...embeddings.map((bytes) => ({ path: '/embeddings', key: 'inference' as const, bytes })),
    ...operations.map((bytes) => ({ path: '/keys', key: 'management' as const, bytes })),
  ];
  let [opened, answered, closed] = [0, 0, 0];
  const holdOne = async ({ path, key, bytes }: (typeof bodies)[number], index: number): Promise<void> => {
    await rest(index * BETWEEN_CONNECTIONS_MS, signal);
    while (!signal.aborted) {
      opened++;
      const head = headOf(target, path, key, `content-length: ${bytes}`);
      const { socket, received } = open(target.baseUrl, `${head}{"input":"`, true);
      while (!signal.aborted && socket.writable && received() === 0) {
        await rest(every, signal);
        if (socket.writable) socket.write('a');
      }
      if (received() > 0) answered++;
      else if (!signal.aborted) closed++;
      socket.destroy();
      await rest(every, signal);
    }
  };
  await Promise.all(bodies.map(holdOne));
  return { opened, answered, closed };
};

export interface UnreadAnswerParameters {
  readonly connections: number;
  /** Small bodies whose answers are large, sent one behind the other on each connection. */
  readonly bodies: readonly string[];
}

/** Makes calls and never reads their answers: those behind the first one wait for their turn. */
const unreadAnswers: Attack<UnreadAnswerParameters> = async (target, { connections, bodies }, signal) => {
  const text = bodies
    .map(
      (body) =>
        headOf(target, '/embeddings', 'inference', `content-length: ${Buffer.byteLength(body)}`) + body,
    )
    .join('');
  const sockets: Socket[] = [];
  let closed = 0;
  while (!signal.aborted) {
    if (sockets.length < connections) {
      const { socket } = open(target.baseUrl, text, false);
      socket.on('close', () => closed++);
      sockets.push(socket);
    }
    await rest(BETWEEN_UNREAD_MS, signal);
    // A socket that is not read does not notice that it was closed: writing to it does.
    for (const socket of sockets) if (socket.writable) socket.write('\r\n');
  }
  const atEnd = closed;
  for (const socket of sockets) socket.destroy();
  return { connections: sockets.length, closed: atEnd };
};

export interface TinyChunkParameters {
  readonly connections: number;
  /** The chunks of each connection. */
  readonly chunks: number;
}

/** One body of chunks of one byte each. */
const tinyChunks: Attack<TinyChunkParameters> = async (target, { connections, chunks }, signal) => {
  const head = headOf(target, '/embeddings', 'inference', 'transfer-encoding: chunked');
  const piece = Buffer.from('1\r\na\r\n'.repeat(10_000));
  let sent = 0;
  let closed = 0;
  const sendOne = async (): Promise<void> => {
    const { socket } = open(target.baseUrl, `${head}a\r\n{"input":"\r\n`, true);
    const stop = (): void => void socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    for (let count = 0; count < chunks && !socket.destroyed && socket.writable; count += 10_000) {
      if (!socket.write(piece))
        await new Promise<void>((resolve) => {
          socket.once('drain', resolve);
          socket.once('close', resolve);
        });
      sent += 10_000;
    }
    // The sent part is held until the body ends, which it does not.
    while (!socket.destroyed && !signal.aborted) await rest(50, signal);
    if (!signal.aborted) closed++;
    socket.destroy();
  };
  setMaxListeners(0, signal);
  await Promise.all(Array.from({ length: connections }, sendOne));
  return { chunks: sent, closed };
};

export interface PipelineParameters {
  readonly connections: number;
  readonly requests: number;
  readonly path: string;
}

/** Asks for the same public document again and again, and reads nothing. Needs no credential. */
const pipelined: Attack<PipelineParameters> = async (target, { connections, requests, path }, signal) => {
  const text = `GET ${path} HTTP/1.1\r\nhost: attack\r\n\r\n`.repeat(requests);
  const sockets = Array.from({ length: connections }, () => open(target.baseUrl, text, false).socket);
  let closed = 0;
  for (const socket of sockets) socket.on('close', () => closed++);
  while (!signal.aborted) await rest(100, signal);
  const atEnd = closed;
  for (const socket of sockets) socket.destroy();
  return { connections, requests: connections * requests, closed: atEnd };
};

const SINGLE = { probe, storm, slowUploads, unreadAnswers, tinyChunks, pipelined };

/** One of several attacks that run at the same time in one process. */
export type AttackPart = {
  [Name in keyof typeof SINGLE]: {
    readonly name: Name;
    readonly parameters: Parameters<(typeof SINGLE)[Name]>[1];
  };
}[keyof typeof SINGLE];

/** All at once; their figures in one, those of each behind its number. */
const several: Attack<readonly AttackPart[]> = async (target, parts, signal) => {
  setMaxListeners(0, signal);
  const figures = await Promise.all(
    parts.map(({ name, parameters }) =>
      (SINGLE[name] as Attack<typeof parameters>)(target, parameters, signal),
    ),
  );
  return Object.fromEntries(
    figures.flatMap((each, index) =>
      Object.entries(each).map(([what, count]) => [`${index + 1}: ${what}`, count]),
    ),
  );
};

export const ATTACKS = { ...SINGLE, several };
export type AttackName = keyof typeof ATTACKS;
export type ParametersOf<Name extends AttackName> = Parameters<(typeof ATTACKS)[Name]>[1];
