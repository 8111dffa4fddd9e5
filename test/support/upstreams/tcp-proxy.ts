// A connection to any server on loopback that a test can cut, repair and corrupt, byte by byte.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A change of the bytes from the server. */
export type Corruption =
  /** Each piece comes so many milliseconds late. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The connection is reset when the first of them should come. */
  | { readonly kind: 'reset' }
  /** The answering half is closed instead. */
  | { readonly kind: 'half-close' }
  /** The first half of a piece comes, and then the end. */
  | { readonly kind: 'truncate' }
  /** One byte at a time for so many bytes. */
  | { readonly kind: 'trickle'; readonly bytes: number }
  /** Nothing comes, and nothing ends. */
  | { readonly kind: 'silence' };

export interface TcpProxy {
  readonly port: number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  repair(): void;
  /**
   * Corrupts the bytes that arrive from now on, also on open connections; null: nothing. `opening`: on those connections
   * alone whose client began with bytes that hold this text.
   */
  corrupt(corruption: Corruption | null, opening?: string): void;
  close(): Promise<void>;
}

// Milliseconds between the bytes of a trickle.
const BETWEEN_BYTES = 2;

export async function startTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let corruption: Corruption | null = null;
  let corruptedOpening = '';
  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target.port, target.host);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    let opening: Buffer | null = null;
    client.once('data', (bytes: Buffer) => {
      opening = bytes;
    });
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      // A piece that is on its way keeps those after it waiting.
      upstream.pause();
      const isMeant = corruptedOpening === '' || (opening?.includes(corruptedOpening) ?? false);
      void pass(bytes, client, isMeant ? corruption : null).then(() => upstream.resume());
    });
    upstream.on('end', () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    repair: () => {
      isCut = false;
    },
    corrupt: (next, of = '') => {
      corruption = next;
      corruptedOpening = of;
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(bytes: Buffer, client: Socket, corruption: Corruption | null): Promise<void> {
  switch (corruption?.kind) {
    case undefined:
      break;
    case 'delay':
      await pause(corruption.milliseconds);
      break;
    case 'reset':
      client.resetAndDestroy();
      return;
    case 'half-close':
      client.end();
      return;
    case 'truncate':
      client.end(bytes.subarray(0, bytes.length >> 1));
      return;
    case 'silence':
      return;
    case 'trickle': {
      const slow = Math.min(corruption.bytes, bytes.length);
      for (let position = 0; position < slow && client.writable; position++) {
        client.write(bytes.subarray(position, position + 1));
        await pause(BETWEEN_BYTES);
      }
      bytes = bytes.subarray(slow);
    }
  }
  if (!client.writable || client.write(bytes)) return;
  await new Promise<void>((resolve) => {
    client.once('drain', resolve);
    client.once('close', resolve);
  });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
