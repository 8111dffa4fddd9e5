// Bounds the bytes that one exchange may receive. undici reports only the body: informational responses (1xx), status
// lines, chunk extensions and trailers have no limit there and cost time and traffic.
import type { Socket } from 'node:net';

/** The answer with its framing exceeds the bound. */
export class AnswerTooLarge extends Error {}

// A body in small chunks is about twice as long on the wire; status line and headers may take a few KiB.
const FRAMING = 2;
const BYTES_AROUND = 65_536;

/** The bound of the exchange that undici is about to write. */
let startingLimit: number | null = null;

/**
 * Sets the bound of the exchange that starts: undici writes a request to its socket in the same call that reports its
 * start. `bodyBytes` is the bound of the body.
 */
export function announceExchange(bodyBytes: number): void {
  startingLimit = bodyBytes * FRAMING + BYTES_AROUND;
}

/** Destroys the connection as soon as an answer exceeds its bound. Only for sockets with one exchange at a time. */
export function boundReads(socket: Socket): void {
  let limit = Infinity;
  let received = 0;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const push = socket.push.bind(socket);
  socket.write = (...args: unknown[]) => {
    received = 0;
    limit = startingLimit ?? limit;
    startingLimit = null;
    return write(...args);
  };
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk instanceof Uint8Array) received += chunk.length;
    if (received > limit) {
      socket.destroy(new AnswerTooLarge(`the answer with its framing is larger than ${limit} bytes`));
      return false;
    }
    return push(chunk, encoding);
  };
}
