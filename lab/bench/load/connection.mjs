// A minimal keep-alive connection of the load.
import { once } from 'node:events';
import { connect } from 'node:net';
import { MessageReader } from './message-reader.mjs';

const READ_BYTES = 256 * 1024;

/** One connection with at most one call in flight. */
export class Connection {
  #socket;
  #reader;
  #onAnswer;
  #onLost;

  constructor({ url }, { onAnswer, onLost }) {
    const { hostname, port } = new URL(url);
    this.#onAnswer = onAnswer;
    this.#onLost = onLost;
    this.#reader = new MessageReader((head, length, body) => this.#onAnswer(this, head, length, body));
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      // All reads share one buffer: the load must cost as little as possible.
      onread: {
        buffer,
        callback: (length) => {
          this.#reader.feed(buffer.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.#onLost(this, error));
    this.#socket.on('close', () => this.#onLost(this, new Error('the connection was closed')));
  }

  async opened() {
    await once(this.#socket, 'connect');
    return this;
  }

  send(bytes, keepsBody) {
    this.#reader.keepsBody = keepsBody;
    this.#socket.write(bytes);
  }

  close() {
    this.#onLost = () => undefined;
    this.#socket.destroy();
  }
}
