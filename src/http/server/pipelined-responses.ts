// Answers to requests that were sent behind another one on the same connection, and wait for their turn.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// Requests of one connection that are worked on while they wait for the answer before theirs.
const MAX_AT_WORK = 32;
// Requests of one connection that were read and not begun: more than one read of a connection can hold.
const MAX_UNBEGUN = 4_096;
// Of all connections together: each takes some kilobytes.
const MAX_UNBEGUN_IN_ALL = 16_384;

/** What one connection has sent behind its first unanswered request. */
interface Pipeline {
  readonly socket: Socket;
  /** Answers that wait for their turn, begun or not. */
  readonly waiting: Set<ServerResponse>;
  /** What begins the others, in their order. */
  readonly unbegun: (() => void)[];
  atWork: number;
}

/**
 * The server's listener with a bound for each connection: requests beyond it are not begun, and the connection is not
 * read, until answers have left. One that goes on all the same, or all of them together, is closed.
 *
 * Node emits no `close` for waiting answers when their connection is lost, and their permits would never be released. So
 * they close with their connection.
 */
export function boundPipelines(
  server: Server,
  { maxAtWork = MAX_AT_WORK, maxUnbegun = MAX_UNBEGUN, maxInAll = MAX_UNBEGUN_IN_ALL } = {},
): (listener: RequestListener) => RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();
  let unbegunInAll = 0;

  const open = (socket: Socket): Pipeline => {
    const pipeline: Pipeline = { socket, waiting: new Set(), unbegun: [], atWork: 0 };
    pipelines.set(socket, pipeline);
    // A body that is read resumes its connection.
    socket.on('resume', () => {
      if (pipeline.unbegun.length > 0) socket.pause();
    });
    socket.once('close', () => {
      unbegunInAll -= pipeline.unbegun.splice(0).length;
      // One that has its turn has the connection, and is told by it.
      for (const answer of pipeline.waiting) if (answer.socket === null) answer.emit('close');
    });
    return pipeline;
  };

  const begin = (pipeline: Pipeline, response: ServerResponse, run: () => void): void => {
    pipeline.atWork++;
    response.once('close', () => {
      pipeline.atWork--;
      const next = pipeline.unbegun.shift();
      if (!next) return;
      unbegunInAll--;
      next();
      if (pipeline.unbegun.length === 0) pipeline.socket.resume();
    });
    run();
  };

  return (listener) => (request: IncomingMessage, response: ServerResponse) => {
    const known = pipelines.get(request.socket);
    if (response.socket !== null && !known?.unbegun.length) {
      listener(request, response);
      return;
    }
    const { socket } = request;
    if (socket.destroyed) return;
    const pipeline = known ?? open(socket);
    pipeline.waiting.add(response);
    response.once('close', () => pipeline.waiting.delete(response));
    const run = (): void => begin(pipeline, response, () => listener(request, response));
    if (pipeline.atWork < maxAtWork && pipeline.unbegun.length === 0) {
      run();
      return;
    }
    pipeline.unbegun.push(run);
    unbegunInAll++;
    socket.pause();
    if (pipeline.unbegun.length > maxUnbegun || unbegunInAll > maxInAll) socket.destroy();
  };
}
