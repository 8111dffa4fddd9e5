// Servers of the attacker: receivers that take connections and do not answer, or answer slowly, or never stop.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** performance.now() of the last byte. */
  readonly at: number;
  readonly body: string;
}

export interface AttackerServer {
  readonly origin: string;
  readonly requests: readonly SeenRequest[];
  /** Bytes of bodies that came. */
  readonly received: () => number;
  /** Connections that are open. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** Milliseconds until an answer; null: never. */
  readonly answersAfter: number | null;
  readonly status?: number;
  readonly answer?: string;
  /** Bytes of a body that are kept; further ones are only counted. */
  readonly keeps?: number;
}

/** An HTTP receiver. */
export async function startAttackerServer(options: ServerOptions): Promise<AttackerServer> {
  const { answersAfter, status = 200, answer = '{}', keeps = 0 } = options;
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let received = 0;
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (body.length < keeps) body += bytes.toString('utf8');
    });
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      requests.push({ path: incoming.url ?? '', headers: incoming.headers, at: performance.now(), body });
      if (answersAfter === null) return;
      setTimeout(() => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(answer);
      }, answersAfter);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const origin = await listen(server);
  return {
    origin,
    requests,
    received: () => received,
    connections: () => sockets.size,
    close: async () => {
      server.closeAllConnections();
      await closed(server);
    },
  };
}

export interface EndlessServer {
  readonly origin: string;
  /** Bytes that were written to those who read. */
  readonly written: () => number;
  close(): Promise<void>;
}

/** Answers every request with interim answers of 103 that never end, up to so many bytes in all. */
export async function startEndlessServer(most: number): Promise<EndlessServer> {
  const interim = Buffer.from(`HTTP/1.1 103 Early Hints\r\nlink: <${'x'.repeat(7_000)}>\r\n\r\n`.repeat(8));
  const sockets = new Set<Socket>();
  let written = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    const write = (): void => {
      while (socket.writable && written < most) {
        written += interim.length;
        if (!socket.write(interim)) {
          socket.once('drain', () => setImmediate(write));
          return;
        }
      }
    };
    socket.once('data', write);
  });
  const origin = await listen(server);
  return {
    origin,
    written: () => written,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await closed(server);
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
