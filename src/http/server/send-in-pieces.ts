// Sends a body that lies in many places without bringing it to one: of 17 MB a second copy is what makes V8 collect.
import type { ServerResponse } from 'node:http';

// Copying so much costs less than handing it over bit by bit.
const COPIED_BYTES = 64 * 1024;

/** The pieces must not change any more: the connection reads them when the caller takes them. */
export function sendInPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // Each write to a lost connection creates an error with a stack trace: of thousands of pieces that takes seconds.
  if (response.destroyed) return;
  response.setHeader('content-length', length);
  if (length <= COPIED_BYTES) {
    response.end(Buffer.concat(pieces, length));
    return;
  }
  // Together they are one write to the connection.
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
}
