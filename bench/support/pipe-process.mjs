// The bare pipe: a minimal gateway in Node. It inspects nothing and forwards everything.
import { servePipe } from './pipe.mjs';

servePipe((answer, outgoing) => {
  outgoing.writeHead(answer.statusCode, answer.headers);
  answer.pipe(outgoing);
});
