// A client, the pump and an upstream, each on its own socket. The test writes for the upstream, reads for the client, and
// moves the time.
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { clientWireOf } from '../../../src/chat/clients/client-wires.js';
import { ChatPump } from '../../../src/chat/stream/chat-pump.js';
import type { DisconnectDecision, UpstreamBody } from '../../../src/chat/stream/chat-pump.js';
import type { ChatStreamRelay } from '../../../src/chat/stream/chat-stream-relay.js';
import { ClientStream } from '../../../src/chat/stream/client-stream.js';
import type { Scheduler, Timer } from '../../../src/concurrency/scheduler.js';
import type { ModelWire } from '../../../src/domain/chat/model-wire.js';
import type { Ending } from '../../../src/domain/ending.js';
import { eventually } from '../eventually.js';
import { createRelay } from './relay.js';

export class TestScheduler implements Scheduler {
  private time = 0;
  private readonly timers = new Map<object, { readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.time;
  }

  after(milliseconds: number, run: () => void): Timer {
    const timer = { cancel: () => void this.timers.delete(timer) };
    this.timers.set(timer, { at: this.time + milliseconds, run });
    return timer;
  }

  get pending(): number {
    return this.timers.size;
  }

  /** Runs the timers of the time in between, in their order. */
  advance(milliseconds: number): void {
    const end = this.time + milliseconds;
    for (;;) {
      const due = [...this.timers]
        .filter(([, { at }]) => at <= end)
        .sort(([, one], [, other]) => one.at - other.at);
      const [next] = due;
      if (!next) break;
      const [timer, { at, run }] = next;
      this.timers.delete(timer);
      this.time = Math.max(this.time, at);
      run();
    }
    this.time = end;
  }
}

export const LAB_LIMITS = { firstTokenMs: 300_000, idleMs: 120_000 };
export const KEEP_ALIVE_MS = 15_000;

export interface LabCall {
  readonly scheduler: TestScheduler;
  readonly relay: ChatStreamRelay;
  readonly client: ClientStream;
  readonly pump: ChatPump;
  /** The answer that the test writes. */
  readonly upstream: ServerResponse;
  readonly upstreamSocket: Socket;
  readonly end: Promise<Ending>;
  /** Bytes that have come from the upstream. */
  readonly pulled: () => number;
  /** Waits for headers, and then for a text in the client's bytes. The client reads nothing before that. */
  read(until: string): Promise<string>;
  /** Ends the client's connection. */
  leave(): void;
  onDisconnect: () => DisconnectDecision;
  disconnects: number;
}

export interface RelayedWire {
  readonly relay: ChatStreamRelay;
  /** Of the client. */
  readonly wire: ModelWire;
}

export class PumpLab {
  private readonly upstreamAgent = new Agent({ keepAlive: true });
  private readonly servers: Server[] = [];
  upstreamConnections = 0;

  /** One call; resolves when the pump runs. */
  async call(
    decision: DisconnectDecision = 'cancel',
    { relay, wire }: RelayedWire = { relay: createRelay(), wire: 'chat' },
  ): Promise<LabCall> {
    const scheduler = new TestScheduler();
    let pulled = 0;
    const upstreamPort = await this.listen((asked, answer) => void this.arrivals.push([asked, answer]));
    this.servers.at(-1)?.on('connection', () => this.upstreamConnections++);
    const asked = request({ port: upstreamPort, agent: this.upstreamAgent });
    asked.end();
    const arrived = await this.arrival();
    const upstream = arrived[1];
    upstream.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];

    const servicePort = await this.listen((one, response) => void this.arrivals.push([one, response]));
    const caller = request({ port: servicePort, agent: false });
    caller.on('error', () => undefined);
    caller.end();
    const [, response] = await this.arrival();
    const client = new ClientStream(response, {
      sendHeaders: () => void response.writeHead(200, { 'content-type': 'text/event-stream' }),
      keepAliveMs: KEEP_ALIVE_MS,
      keepAlive: clientWireOf(wire).keepAlive,
      scheduler,
    });
    const call = { disconnects: 0, onDisconnect: () => decision } as LabCall;
    const pump = new ChatPump({
      upstream: bodyOf(answer, (bytes) => (pulled += bytes)),
      relay,
      client,
      limits: LAB_LIMITS,
      scheduler,
      onDisconnect: () => {
        call.disconnects++;
        return call.onDisconnect();
      },
    });
    const pieces: string[] = [];
    const answered: { by: IncomingMessage | null } = { by: null };
    let notify = (): void => undefined;
    caller.on('response', (one) => {
      answered.by = one;
      one.on('error', () => undefined);
      one.on('close', () => notify());
      notify();
    });
    const wait = (): Promise<void> => new Promise((resolve) => (notify = resolve));
    return Object.assign(call, {
      scheduler,
      relay,
      client,
      pump,
      upstream,
      upstreamSocket: upstream.socket as Socket,
      end: pump.ended,
      pulled: () => pulled,
      leave: () => caller.destroy(),
      read: async (until: string) => {
        while (!answered.by) await wait();
        const received = answered.by;
        if (received.listenerCount('data') === 0) {
          received.on('data', (bytes: Buffer) => {
            pieces.push(bytes.toString('latin1'));
            notify();
          });
        }
        // Only the new bytes are searched: streams of 50 MB come in thousands of pieces.
        let searched = pieces.join('');
        while (!searched.includes(until)) {
          const known = pieces.length;
          if (received.destroyed) throw new Error(`the stream ended without ${until}`);
          await wait();
          searched = searched.slice(-until.length) + pieces.slice(known).join('');
        }
        return Buffer.from(pieces.join(''), 'latin1').toString();
      },
    });
  }

  async close(): Promise<void> {
    this.upstreamAgent.destroy();
    for (const server of this.servers.splice(0)) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  private readonly arrivals: [IncomingMessage, ServerResponse][] = [];

  private async arrival(): Promise<[IncomingMessage, ServerResponse]> {
    const server = this.servers.at(-1);
    if (this.arrivals.length === 0 && server) await once(server, 'request');
    const next = this.arrivals.shift();
    if (!next) throw new Error('no request came');
    return next;
  }

  private async listen(handle: (asked: IncomingMessage, response: ServerResponse) => void): Promise<number> {
    const server = createServer(handle);
    this.servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
}

function bodyOf(answer: IncomingMessage, count: (bytes: number) => void): UpstreamBody {
  return {
    listen: (listener) => {
      answer.on('data', (bytes: Buffer) => {
        count(bytes.length);
        listener.onChunk(bytes);
      });
      answer.on('end', () => listener.onEnd());
      answer.on('error', (error) => listener.onError(error));
    },
    pause: () => void answer.pause(),
    resume: () => void answer.resume(),
    abort: () => {
      answer.removeAllListeners();
      answer.on('error', () => undefined);
      answer.destroy();
    },
  };
}

/** Resolves when the connection to the upstream is closed. */
export const upstreamClosed = ({ upstreamSocket }: LabCall): Promise<void> =>
  new Promise((resolve) => {
    // A connection that is closed while the upstream writes ends with an error there.
    upstreamSocket.on('error', () => undefined);
    if (upstreamSocket.destroyed) resolve();
    else upstreamSocket.once('close', () => resolve());
  });

/** Resolves when the pump has read so many bytes. */
export const pulled = (call: LabCall, bytes: number): Promise<number> =>
  eventually(
    () => Promise.resolve(call.pulled()),
    (count) => count >= bytes,
  );
