// Ends transfers that do not move: bodies that stay away, and answers that nobody reads. One look a second at all of
// them, so that a request that is quick costs nothing.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../config/metrics.js';
import { TransferPace } from './transfer-pace.js';

// Milliseconds between looks.
const LOOK = 1_000;

interface Upload {
  readonly received: () => number;
  readonly giveUp: () => void;
  readonly pace: TransferPace;
}

/** What Node's sockets have and its types do not: the figures of libuv, which has taken what `writableLength` counts. */
interface SocketWithHandle {
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
}

@Injectable()
export class SlowTransfers implements OnModuleDestroy {
  private readonly uploads = new Set<Upload>();
  private readonly sockets = new Set<Socket>();
  private readonly downloads = new Map<Socket, TransferPace>();
  private readonly ended: Counter<'direction'>;
  private timer: NodeJS.Timeout | null = null;
  private lookedAt = 0;
  /** Milliseconds that transfers could have moved in: a look that comes late must not cut off callers who were quick. */
  private time = 0;

  constructor({ registry }: Metrics) {
    this.ended = new Counter({
      name: 'signalbox_http_slow_transfers_total',
      help: 'Requests and responses that were ended because they moved less than 8 KiB/s for 10 s, by direction.',
      labelNames: ['direction'],
      registers: [registry],
    });
  }

  /** Looks at every connection of the server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => {
        this.sockets.delete(socket);
        this.downloads.delete(socket);
      });
    });
    this.lookedAt = performance.now();
    this.timer ??= setInterval(() => this.look(performance.now()), LOOK).unref();
  }

  /** Calls `giveUp` once when the bytes of `received` grow too slowly. Returns what ends the watch. */
  watchUpload(received: () => number, giveUp: () => void): () => void {
    const upload = { received, giveUp, pace: new TransferPace(this.time, received()) };
    this.uploads.add(upload);
    return () => void this.uploads.delete(upload);
  }

  look(now: number): void {
    this.time += Math.max(0, Math.min(now - this.lookedAt, 2 * LOOK));
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
    if (!pace) this.downloads.set(socket, new TransferPace(this.time, taken));
    else if (pace.isTooSlow(taken, this.time)) {
      this.ended.inc({ direction: 'download' });
      socket.destroy();
    }
  }
}

/** Bytes that the caller's side has taken: a large answer is one write, which is only counted as done when all of it is. */
function takenBytes(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = (socket as SocketWithHandle)._handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined)
    return socket.bytesWritten - socket.writableLength;
  return bytesWritten - writeQueueSize;
}
