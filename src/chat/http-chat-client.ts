// The caller's end of a chat call over HTTP.
import type { Response } from 'express';
import { generationHeaderId } from '../domain/identifiers.js';
import type { ChatConfig } from '../config/chat-config.js';
import type { PassedOverKey } from '../domain/providers/routing-metadata.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import { PASSED_OVER_HEADER, passedOverText } from '../http/observe/call-headers.js';
import type { ChatClient } from './chat-call.js';
import { ClientStream } from './stream/client-stream.js';
import { systemScheduler } from '../concurrency/scheduler.js';

const OK = 200;

export class HttpChatClient implements ChatClient {
  private stream: ClientStream | null = null;
  private hasLeft = false;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly response: Response,
    private readonly config: ChatConfig,
  ) {
    this.hasLeft = response.destroyed;
    response.once('close', () => {
      if (!response.writableFinished) this.leave();
    });
  }

  get isGone(): boolean {
    return this.hasLeft || (this.stream !== null && this.stream.gone !== null);
  }

  onGone(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  openStream(generationId: string, passedOver: () => readonly PassedOverKey[]): ClientStream {
    const { response } = this;
    const { keepAlive, slowReaderTimeout } = this.config;
    this.stream = new ClientStream(response, {
      keepAliveMs: keepAlive,
      slowReaderMs: slowReaderTimeout,
      scheduler: systemScheduler,
      sendHeaders: () => {
        response.statusCode = OK;
        response.setHeader(GENERATION_ID_HEADER, generationHeaderId(generationId));
        response.setHeader('content-type', 'text/event-stream; charset=utf-8');
        response.setHeader('cache-control', 'no-cache, no-transform');
        response.setHeader('x-accel-buffering', 'no');
        const keys = passedOver();
        if (keys.length > 0) response.setHeader(PASSED_OVER_HEADER, passedOverText(keys));
        // Chunks of a stream are small, and none of them waits for another.
        response.socket?.setNoDelay(true);
      },
    });
    this.stream.onGone(() => this.leave());
    return this.stream;
  }

  private leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    for (const listener of this.listeners) listener();
  }
}
