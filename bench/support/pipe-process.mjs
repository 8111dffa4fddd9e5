// The bare pipe: the least that a gateway in Node can be. It looks at nothing and hands everything on.
import { servePipe } from './pipe.mjs';

servePipe((answer, outgoing) => {
  outgoing.writeHead(answer.statusCode, answer.headers);
  answer.pipe(outgoing);
});
