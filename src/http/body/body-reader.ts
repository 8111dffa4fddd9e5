// Reads a body as it arrives: counted on the wire and unpacked, bounded, and abandoned when it stalls.
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { AppError } from '../../domain/errors.js';
import { compressionOf } from '../load-shedding/load-shedding.guard.js';
import { BodyBlocks } from './body-blocks.js';
import { UnreadableBody } from './plain-body.js';
import type { SlowTransfers } from '../server/slow-transfers.js';

// Bytes by which a compressed body may exceed its unpacked size on the wire: headers, and empty blocks.
const COMPRESSION_OVERHEAD = 4_096;

// Of the window, as a power of two: a frame that needs more memory fails. Every reader of zstd takes 8 MiB (RFC 8878).
const MAX_ZSTD_WINDOW = 23;

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', zlib.createGunzip],
  ['deflate', zlib.createInflate],
  ['br', zlib.createBrotliDecompress],
  ...zstdOfNode(),
]);
/** The encodings that this process reads. */
export const BODY_ENCODINGS = [...UNPACKERS.keys()];

/** Node has it from 22.15 on. */
function zstdOfNode(): [string, () => Transform][] {
  const { createZstdDecompress: create, constants } = zlib as {
    readonly createZstdDecompress?: (options: zlib.ZlibOptions) => Transform;
    readonly constants: Readonly<Record<string, number>>;
  };
  const window = constants['ZSTD_d_windowLogMax'];
  if (create === undefined || window === undefined) return [];
  const params = { [window]: MAX_ZSTD_WINDOW };
  return [['zstd', () => create({ params } as zlib.ZlibOptions)]];
}

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
  return new ArrivingBody(request, createUnpacker?.() ?? null, wireLimit, reading).read();
}

class ArrivingBody {
  private readonly blocks = new BodyBlocks();
  /** Bytes on the wire. */
  private received = 0;
  private isOver = false;
  private resolve: (body: Buffer) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private endWatch: () => void = () => undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly unpacker: Transform | null,
    private readonly wireLimit: number,
    private readonly reading: BodyReading,
  ) {}

  /** Call it once. */
  read(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      this.endWatch = this.reading.transfers.watchUpload(
        () => this.received,
        () => this.fail(new AppError('operation_timeout', { detail: 'the request did not arrive in time' })),
      );
      this.request.on('data', this.receive).once('close', this.giveUp);
      if (this.unpacker === null) this.request.once('end', this.finish);
      else this.unpack(this.unpacker);
    });
  }

  private unpack(unpacker: Transform): void {
    this.request.once('end', () => {
      if (this.isOver) return;
      // The close that follows is no loss any more.
      this.request.off('close', this.giveUp);
      this.endWatch();
      unpacker.end();
    });
    unpacker
      .on('data', (piece: Buffer) => {
        if (!unpacker.destroyed) this.keep(piece);
      })
      .once('end', this.finish)
      .on('error', this.fail);
  }

  private readonly receive = (piece: Buffer): void => {
    const { request, unpacker } = this;
    this.received += piece.length;
    if (this.received > this.wireLimit) this.fail(new UnreadableBody('entity.too.large'));
    else if (unpacker === null) this.keep(piece);
    else if (!unpacker.write(piece)) {
      request.pause();
      unpacker.once('drain', () => request.resume());
    }
  };

  private keep(piece: Buffer): void {
    try {
      if (this.blocks.length + piece.length > this.reading.limit)
        throw new UnreadableBody('entity.too.large');
      const allocated = this.blocks.add(piece);
      if (allocated > 0) this.reading.acquireBytes(allocated);
    } catch (error) {
      this.fail(error);
    }
  }

  private readonly finish = (): void => {
    if (this.isOver) return;
    this.stop();
    this.resolve(this.blocks.join());
  };

  private readonly giveUp = (): void => this.fail(new UnreadableBody('request.aborted'));

  private readonly fail = (error: unknown): void => {
    if (this.isOver) return;
    this.stop();
    this.reject(error);
    // The rest is read and dropped, so that the caller can read the response.
    this.request.resume();
  };

  private stop(): void {
    this.isOver = true;
    this.endWatch();
    this.request.off('data', this.receive).off('close', this.giveUp);
    this.unpacker?.destroy();
  }
}
