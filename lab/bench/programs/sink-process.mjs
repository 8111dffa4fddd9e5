// A receiver of traces: accepts everything and counts the spans, by the member that every span of OTLP's JSON has
// once.
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const SPAN = Buffer.from('"spanId"');
/** By path: every service has one of its own. */
const spans = new Map();
/** Milliseconds until a request is answered. */
let delay = 0;

function countSpans(bytes) {
  let count = 0;
  for (let at = bytes.indexOf(SPAN); at >= 0; at = bytes.indexOf(SPAN, at + SPAN.length)) count++;
  return count;
}

const server = createServer((incoming, response) => {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    const bytes = Buffer.concat(chunks);
    const count = countSpans(incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    spans.set(incoming.url, (spans.get(incoming.url) ?? 0) + count);
    const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    if (delay === 0) answer();
    else setTimeout(answer, delay);
  });
});

process.on('disconnect', () => process.exit());
process.on('message', ({ path, delay: newDelay }) => {
  if (newDelay !== undefined) {
    delay = newDelay;
    process.send({});
    return;
  }
  const matching = [...spans].filter(([url]) => url.startsWith(path));
  process.send({ spans: matching.reduce((sum, [, count]) => sum + count, 0) });
});
server.listen(0, '127.0.0.1', () => process.send({ origin: `http://127.0.0.1:${server.address().port}` }));
