// The caller's end of a chat call over HTTP.
import type { Response } from 'express';
import type { CallerGone } from '../domain/ending.js';
import { generationHeaderId } from '../domain/identifiers.js';
import type { ModelWire } from '../domain/chat/model-wire.js';
import type { ChatConfig } from '../config/chat-config.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import { clientWireOf } from './clients/client-wires.js';
import { setAnswerHeaders } from '../http/observe/call-headers.js';
import type { AnswerFacts } from '../http/observe/call-headers.js';
import type { ChatClient } from './chat-call.js';
import { ClientStream } from './stream/client-stream.js';
import { systemScheduler } from '../concurrency/scheduler.js';

const OK = 200;

/** Clients of the Messages wire read its own header. */
export function nameGeneration(response: Response, generationId: string, wire: ModelWire): void {
  const id = generationHeaderId(generationId);
  response.setHeader(GENERATION_ID_HEADER, id);
  if (wire === 'messages') response.setHeader('request-id', id);
}

export class HttpChatClient implements ChatClient {
  private stream: ClientStream | null = null;
  gone: CallerGone | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly response: Response,
    private readonly config: ChatConfig,
    private readonly wire: ModelWire,
  ) {
    if (response.destroyed) this.gone = 'left';
    response.once('close', () => {
      if (!response.writableFinished) this.leave('left');
    });
  }

  onGone(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  openStream(generationId: string, facts: () => AnswerFacts): ClientStream {
    const { response } = this;
    const { keepAlive } = this.config;
    this.stream = new ClientStream(response, {
      keepAliveMs: keepAlive,
      keepAlive: clientWireOf(this.wire).keepAlive,
      scheduler: systemScheduler,
      sendHeaders: () => {
        response.statusCode = OK;
        nameGeneration(response, generationId, this.wire);
        response.setHeader('content-type', 'text/event-stream; charset=utf-8');
        response.setHeader('cache-control', 'no-cache, no-transform');
        response.setHeader('x-accel-buffering', 'no');
        setAnswerHeaders(response, facts());
        // Chunks of a stream are small, and none of them waits for another.
        response.socket?.setNoDelay(true);
      },
    });
    return this.stream;
  }

  /** The caller has left, or reads too slowly. */
  leave(how: CallerGone): void {
    if (this.gone !== null) return;
    this.gone = how;
    this.stream?.leave(how);
    for (const listener of this.listeners) listener();
  }
}
