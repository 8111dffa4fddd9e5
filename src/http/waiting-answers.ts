// Answers to requests that were sent behind another one on the same connection, and wait for their turn.
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Node says nothing of them when their connection is lost, and whoever gives back what a request holds as its answer
 * closes would hold it for ever. So they close with their connection.
 */
export function closeWaitingAnswers(server: Server): void {
  const waiting = new WeakMap<Socket, Set<ServerResponse>>();
  const startOn = (socket: Socket): Set<ServerResponse> => {
    const answers = new Set<ServerResponse>();
    waiting.set(socket, answers);
    socket.once('close', () => {
      // One that has its turn has the connection, and is told by it.
      for (const answer of answers) if (answer.socket === null) answer.emit('close');
    });
    return answers;
  };
  server.prependListener('request', ({ socket }, response) => {
    if (response.socket !== null) return;
    const answers = waiting.get(socket) ?? startOn(socket);
    answers.add(response);
    response.once('close', () => answers.delete(response));
  });
}
