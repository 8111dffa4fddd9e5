// Sends a body in many pieces without joining them: a second copy of 17 MB would make V8 collect garbage.
import type { ServerResponse } from 'node:http';

// Below this size, copying costs less than many writes.
const COPIED_BYTES = 64 * 1024;

/** The pieces must not change any more: the connection reads them as the caller does. */
export function sendInPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // Each write to a lost connection creates an error with a stack trace: for thousands of pieces that takes seconds.
  if (response.destroyed) return;
  response.setHeader('content-length', length);
  if (length <= COPIED_BYTES) {
    response.end(Buffer.concat(pieces, length));
    return;
  }
  // Corked, they are one write to the connection.
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
}
