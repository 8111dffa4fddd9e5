// The stub provider: answers embeddings calls with prepared bytes, after a delay that its starter sets, and streams chats.
import { createServer } from 'node:net';
import { streamTo, wireOf } from '../load/chat-stream.mjs';
import { upstreamAnswer } from '../load/known-vectors.mjs';
import { MessageReader } from '../load/message-reader.mjs';

const answers = new Map();
let delay = 0;

function answerTo(body) {
  let answer = answers.get(body);
  if (answer === undefined) {
    answer = upstreamAnswer(body);
    answers.set(body, answer);
  }
  return answer;
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new MessageReader((head, _length, body) => {
    const wire = wireOf(head);
    if (wire !== undefined) {
      streamTo(socket, wire, body);
      return;
    }
    const answer = answerTo(body.latin1Slice());
    if (delay === 0) socket.write(answer);
    else setTimeout(() => socket.write(answer), delay);
  });
  reader.keepsBody = true;
  socket.on('data', (bytes) => reader.feed(bytes));
  socket.on('error', () => socket.destroy());
});

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  // The answers of another kind of call are not needed again, and those to 100 inputs are large.
  answers.clear();
  delay = message.delay;
  process.send({ delay });
});
server.listen(0, '127.0.0.1', () => process.send({ origin: `http://127.0.0.1:${server.address().port}` }));
