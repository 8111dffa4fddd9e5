// An HTTP server on loopback that keeps its connections.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LocalServer {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

export async function listenLocally(server: Server): Promise<LocalServer> {
  // Tests that compute for seconds use a connection again that Node would have closed as idle.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
