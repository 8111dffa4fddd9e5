// A body in pieces arrives completely: small or large, on reused connections, read quickly or slowly.
import { describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { createConnection, Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sendInPieces } from './send-in-pieces.js';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

async function withServer(answer: Answer, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => answer(response, request));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function piecesOf(count: number, length: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.alloc(length, index));
}

describe('a body in pieces', () => {
  // The last has more pieces than one system call takes.
  it.each([
    [0, 0],
    [1, 10],
    [16, 4_096],
    [17, 4_096],
    [3, 1_000_000],
    [5_000, 1_000],
  ])('arrives completely: %d of %d bytes', async (count, length) => {
    const pieces = piecesOf(count, length);
    const answer: Answer = (response) => sendInPieces(response, pieces);
    await withServer(answer, async (port) => {
      // Twice: the next response on the connection must begin where the first one ends.
      for (let tick = 0; tick < 2; tick++) {
        const response = await fetch(`http://127.0.0.1:${port}/`);
        expect(response.headers.get('content-length')).toBe(String(count * length));
        expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat(pieces))).toBe(true);
      }
    });
  });

  it.each(['while it is sent', 'before'])('does not fail when the caller disconnects %s', async (when) => {
    const heard: string[] = [];
    const answer: Answer = (response) => {
      response.on('error', () => heard.push('error'));
      if (when === 'before') response.writeProcessing();
      else sendInPieces(response, piecesOf(4_000, 8_000));
      response.once('close', () => {
        if (when === 'before') sendInPieces(response, piecesOf(4_000, 8_000));
        heard.push('close');
      });
    };
    await withServer(answer, async (port) => {
      const socket = createConnection(port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
      await once(socket, 'data');
      socket.destroy();
      while (heard.length === 0) await nextTurn();
      // A write to a closed connection reports its error a tick later.
      await nextTurn();
      expect(heard).toEqual(['close']);
    });
  });

  it('costs nothing once the connection is lost, whatever its size', () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.destroy();
    const write = jest.spyOn(response, 'write');
    sendInPieces(response, piecesOf(20_000, 100));
    expect(write).not.toHaveBeenCalled();
  });
});
