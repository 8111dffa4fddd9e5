// A server of Node for the requests of a test, and a connection to it, both for one test at a time.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach } from '@jest/globals';

interface BodyConnection {
  /** The client of the present test. */
  readonly client: () => Socket;
  /** Sends a request with these headers and the bytes of its body. Resolves when its headers have arrived. */
  readonly request: (headers: string, body: Uint8Array | string) => Promise<IncomingMessage>;
}

export function useBodyConnection(RequestClass: typeof IncomingMessage): BodyConnection {
  const server = createServer({ IncomingMessage: RequestClass });
  let client: Socket;
  beforeEach(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
  });
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    client: () => client,
    request: async (headers, body) => {
      const arrived = once(server, 'request') as Promise<[IncomingMessage]>;
      client.write(`POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`);
      client.write(body);
      const [request] = await arrived;
      return request;
    },
  };
}
