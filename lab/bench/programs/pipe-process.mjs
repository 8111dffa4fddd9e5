// The bare pipe: Node's `http` server with its client behind it. It inspects nothing and forwards everything.
import { Agent, createServer, request } from 'node:http';

const upstream = new URL(process.env.UPSTREAM_ORIGIN);
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, outgoing) => {
  const call = request(
    {
      agent,
      host: upstream.hostname,
      port: upstream.port,
      path: incoming.url,
      method: incoming.method,
      headers: { ...incoming.headers, host: upstream.host },
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    },
  );
  call.on('error', () => outgoing.destroy());
  incoming.pipe(call);
});

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ origin: `http://127.0.0.1:${server.address().port}` }));
