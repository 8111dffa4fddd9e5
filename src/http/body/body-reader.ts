// Reads a body as it arrives: counted on the wire and unpacked, bounded, and abandoned when it stalls.
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../domain/errors.js';
import { compressionOf } from '../load-shedding/load-shedding.guard.js';
import { BodyBlocks } from './body-blocks.js';
import { UnreadableBody } from './plain-body.js';
import type { SlowTransfers } from '../server/slow-transfers.js';

// Bytes by which a compressed body may exceed its unpacked size on the wire: headers, and empty blocks.
const COMPRESSION_OVERHEAD = 4_096;

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export interface BodyReading {
  /** Bytes. */
  readonly limit: number;
  /** Counts bytes that the body holds. Throws `overloaded` beyond the limit. */
  readonly acquireBytes: (bytes: number) => void;
  readonly transfers: Pick<SlowTransfers, 'watchUpload'>;
}

/**
 * Rejects with UnreadableBody or AppError. Never reads more than the announced length: Node's parser takes the rest
 * for a request.
 */
export function readBody(request: IncomingMessage, reading: BodyReading): Promise<Buffer> {
  const compression = compressionOf(request);
  const createUnpacker = compression === null ? null : UNPACKERS.get(compression);
  if (createUnpacker === undefined) return Promise.reject(new UnreadableBody('encoding.unsupported'));
  const announced = Number(request.headers['content-length'] ?? 0);
  const wireLimit = createUnpacker === null ? reading.limit : reading.limit + COMPRESSION_OVERHEAD;
  if (announced > wireLimit) return Promise.reject(new UnreadableBody('entity.too.large'));
  if (request.destroyed) return Promise.reject(new UnreadableBody('request.aborted'));
  return collect(request, createUnpacker?.() ?? null, wireLimit, reading);
}

function collect(
  request: IncomingMessage,
  unpacker: Transform | null,
  wireLimit: number,
  { limit, acquireBytes, transfers }: BodyReading,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const blocks = new BodyBlocks();
    let received = 0;
    let isOver = false;
    const stop = (): void => {
      isOver = true;
      endWatch();
      request.off('data', receive).off('close', giveUp);
      unpacker?.destroy();
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      stop();
      reject(error);
      // The rest is read and dropped, so that the caller can read the response.
      request.resume();
    };
    const giveUp = (): void => fail(new UnreadableBody('request.aborted'));
    const endWatch = transfers.watchUpload(
      () => received,
      () => fail(new AppError('operation_timeout', { detail: 'the request did not arrive in time' })),
    );
    const keep = (piece: Buffer): void => {
      try {
        if (blocks.length + piece.length > limit) throw new UnreadableBody('entity.too.large');
        const allocated = blocks.add(piece);
        if (allocated > 0) acquireBytes(allocated);
      } catch (error) {
        fail(error);
      }
    };
    const finish = (): void => {
      if (isOver) return;
      stop();
      resolve(blocks.join());
    };
    const receive = (piece: Buffer): void => {
      received += piece.length;
      if (received > wireLimit) fail(new UnreadableBody('entity.too.large'));
      else if (unpacker === null) keep(piece);
      else if (!unpacker.write(piece)) {
        request.pause();
        unpacker.once('drain', () => request.resume());
      }
    };
    request.on('data', receive).once('close', giveUp);
    if (unpacker === null) {
      request.once('end', finish);
      return;
    }
    request.once('end', () => {
      if (isOver) return;
      // The close that follows is no loss any more.
      request.off('close', giveUp);
      endWatch();
      unpacker.end();
    });
    unpacker
      .on('data', (piece: Buffer) => {
        if (!unpacker.destroyed) keep(piece);
      })
      .once('end', finish)
      .on('error', fail);
  });
}
