// An HTTP proxy on loopback that opens tunnels (CONNECT) and nothing else.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** Targets of all tunnels, `host:port` each. */
  readonly targets: readonly string[];
  /** Bytes that passed through the tunnels, as text. */
  readonly passed: () => string;
  close(): Promise<void>;
}

export interface ConnectProxyOptions {
  /** `user:password`; without it every client is served. */
  readonly userInfo?: string;
}

/** Every tunnel ends on loopback, at the port of its target. */
export async function startConnectProxy({ userInfo }: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const targets: string[] = [];
  const passed: Buffer[] = [];
  const sockets = new Set<Socket>();
  const expected = userInfo && `Basic ${Buffer.from(userInfo).toString('base64')}`;
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (request, client: Socket) => {
    client.on('error', () => undefined);
    if (request.headers['proxy-authorization'] !== expected) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    const target = request.url ?? '';
    targets.push(target);
    const upstream = connect(Number(target.slice(target.lastIndexOf(':') + 1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(upstream).pipe(client);
      client.on('data', (piece: Buffer) => passed.push(piece));
    });
    sockets.add(upstream);
    upstream.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    passed: () => Buffer.concat(passed).toString('latin1'),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
