// Bounds requests that are pipelined on one connection.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// Requests of one connection in progress while they wait for earlier responses.
const MAX_AT_WORK = 32;
// Requests of one connection that were read but not begun: more than one read of a connection can hold; beyond it the
// connection is closed.
const MAX_UNBEGUN = 4_096;
// Responses of all connections together: each takes some kilobytes.
const MAX_UNBEGUN_IN_ALL = 16_384;

/** Requests that a connection has sent behind its first unanswered one. */
interface Pipeline {
  readonly socket: Socket;
  /** Responses that wait for their turn, begun or not. */
  readonly waiting: Set<ServerResponse>;
  /** The starts of the other requests, in order. */
  readonly unbegun: (() => void)[];
  atWork: number;
}

/**
 * The server's listener with a bound for each connection. Requests beyond it are not begun, and the connection is not
 * read, until responses have left. A connection that sends more all the same is closed, and so is one beyond the
 * total.
 *
 * Node emits no `close` for waiting responses when their socket dies, and their permits would never be released. So
 * this emits it.
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
    // Reading a body resumes its connection.
    socket.on('resume', () => {
      if (pipeline.unbegun.length > 0) socket.pause();
    });
    socket.once('close', () => {
      unbegunInAll -= pipeline.unbegun.splice(0).length;
      // A response whose turn has come owns the connection, and gets its event.
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
