// A reverse proxy that serves an application below a path of its host, and something else everywhere else.
import { createServer, request as send } from 'node:http';
import { listenLocally } from './local-server.js';

export interface PathProxy {
  readonly origin: string;
  /** Paths outside of the application that were requested. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

export async function startPathProxy(
  target: string,
  path: string,
  mode: 'keeps' | 'strips',
): Promise<PathProxy> {
  const strays: string[] = [];
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, response) => {
    const { url = '', method, headers } = incoming;
    const rest = url.slice(path.length);
    if (!url.startsWith(path) || !/^(?:[/?]|$)/.test(rest)) {
      strays.push(url);
      response.writeHead(404).end('another application');
      return;
    }
    const stripped = rest.startsWith('/') ? rest : `/${rest}`;
    const forwarded = { hostname, port, method, headers, path: mode === 'strips' ? stripped : url };
    const outgoing = send(forwarded, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  const local = await listenLocally(server);
  return {
    ...local,
    strays,
  };
}
