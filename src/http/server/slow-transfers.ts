// Ends stalled transfers: bodies that do not arrive, and responses that are not read. One check a second covers all
// of them, so that quick requests cost nothing.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../config/metrics.js';

// Milliseconds that a transfer may pause: a lost packet, a network change, garbage collection in a client.
export const GRACE = 10_000;
// Bytes a millisecond, on average. Far below any network on which a call of this service is useful.
export const LEAST_RATE = 8_192 / 1_000;

/**
 * The minimum rate of a transfer: a slower one holds memory or a permit for longer than its bytes are worth. Every byte
 * earns time, up to the grace.
 */
export class TransferPace {
  private deadline: number;

  constructor(
    now: number,
    private moved = 0,
    private readonly grace = GRACE,
  ) {
    this.deadline = now + grace;
  }

  /** `moved` are the bytes of the transfer so far. */
  isTooSlow(moved: number, now: number): boolean {
    const bought = (moved - this.moved) / LEAST_RATE;
    this.moved = moved;
    this.deadline = Math.min(this.deadline + bought, now + this.grace);
    return now > this.deadline;
  }
}

// Milliseconds between checks.
const CHECK_INTERVAL = 1_000;

/** The bound of one connection's reader instead of the usual one. */
export interface ReaderBound {
  /** Milliseconds that the reader may pause. */
  readonly grace: number;
  /** The reader is too slow: its connection ends. */
  readonly giveUp: () => void;
}

interface Upload {
  readonly received: () => number;
  readonly giveUp: () => void;
  readonly pace: TransferPace;
}

/**
 * Members of Node's sockets that its types do not declare. libuv has already accepted the bytes that `writableLength`
 * counts.
 */
interface SocketWithHandle {
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
}

@Injectable()
export class SlowTransfers implements OnModuleDestroy {
  private readonly uploads = new Set<Upload>();
  private readonly sockets = new Set<Socket>();
  private readonly downloads = new Map<Socket, TransferPace>();
  private readonly bounds = new WeakMap<Socket, ReaderBound>();
  private readonly ended: Counter<'direction'>;
  private timer: NodeJS.Timeout | null = null;
  private lookedAt = 0;
  /** Milliseconds in which transfers could have moved: a late check must not end transfers of quick callers. */
  private time = 0;

  constructor({ registry }: Metrics) {
    this.ended = new Counter({
      name: 'signalbox_http_slow_transfers_total',
      help: 'Requests and responses that ended because they moved less than 8 KiB/s for 10 s (chats: CHAT_SLOW_READER_TIMEOUT_MS), by direction.',
      labelNames: ['direction'],
      registers: [registry],
    });
    // Prometheus sees no increase in a series that begins with its first event.
    for (const direction of ['upload', 'download'] as const) this.ended.inc({ direction }, 0);
  }

  /** Checks every connection of the server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => {
        this.sockets.delete(socket);
        this.downloads.delete(socket);
      });
    });
    this.lookedAt = performance.now();
    this.timer ??= setInterval(() => this.look(performance.now()), CHECK_INTERVAL).unref();
  }

  /** Calls `giveUp` once when `received` grows too slowly. Returns the function that ends the watch. */
  watchUpload(received: () => number, giveUp: () => void): () => void {
    const upload = { received, giveUp, pace: new TransferPace(this.time, received()) };
    this.uploads.add(upload);
    return () => void this.uploads.delete(upload);
  }

  /** Returns the function that restores the usual bound. */
  boundReader(socket: Socket, bound: ReaderBound): () => void {
    this.bounds.set(socket, bound);
    return () => void this.bounds.delete(socket);
  }

  look(now: number): void {
    this.time += Math.max(0, Math.min(now - this.lookedAt, 2 * CHECK_INTERVAL));
    this.lookedAt = now;
    for (const upload of this.uploads) this.checkUpload(upload);
    for (const socket of this.sockets) this.checkDownload(socket);
  }

  onModuleDestroy(): void {
    if (this.timer) clearInterval(this.timer);
  }

  private checkUpload(upload: Upload): void {
    if (!upload.pace.isTooSlow(upload.received(), this.time)) return;
    this.uploads.delete(upload);
    this.ended.inc({ direction: 'upload' });
    upload.giveUp();
  }

  private checkDownload(socket: Socket): void {
    if (socket.writableLength === 0) {
      this.downloads.delete(socket);
      return;
    }
    const taken = takenBytes(socket);
    const pace = this.downloads.get(socket);
    const bound = this.bounds.get(socket);
    if (!pace) this.downloads.set(socket, new TransferPace(this.time, taken, bound?.grace));
    else if (pace.isTooSlow(taken, this.time)) {
      this.sockets.delete(socket);
      this.ended.inc({ direction: 'download' });
      bound?.giveUp();
      socket.destroy();
    }
  }
}

/** Bytes that the caller's side has received: a large response is one write, which counts as done only at its end. */
function takenBytes(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = (socket as SocketWithHandle)._handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined)
    return socket.bytesWritten - socket.writableLength;
  return bytesWritten - writeQueueSize;
}
