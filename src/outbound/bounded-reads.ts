// A bound on the bytes that come over a connection for one exchange. undici hands on a body alone: informational responses
// (1xx), status lines, extensions of chunks and trailers cost the process time and traffic without a limit of their own.
import type { Socket } from 'node:net';

/** The bytes of an answer and of what stands around it are more than allowed. */
export class AnswerTooLarge extends Error {}

// A body in small chunks is about twice as long on the wire; status line and headers may be a few KiB.
const FRAMING = 2;
const BYTES_AROUND = 65_536;

/** Of the exchange that undici is about to write. */
let startingLimit: number | null = null;

/**
 * Sets the bound of the exchange that starts: undici writes a request to its socket in the same call that reports its
 * start. `bodyBytes`: what is allowed for the body of the answer.
 */
export function announceExchange(bodyBytes: number): void {
  startingLimit = bodyBytes * FRAMING + BYTES_AROUND;
}

/** Ends the connection as soon as an answer is larger on the wire than allowed. For sockets with one exchange at a time. */
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
      socket.destroy(
        new AnswerTooLarge(`the answer and what stands around it are larger than ${limit} bytes`),
      );
      return false;
    }
    return push(chunk, encoding);
  };
}
