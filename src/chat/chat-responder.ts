// Answers a request with the chat completion of its body, for the caller that pays.
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../config/app-config.js';
import { generationHeaderId } from '../domain/identifiers.js';
import type { Caller } from '../domain/keys/api-key.js';
import { takeRawBody } from '../http/body/raw-body.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import { permitOf } from '../http/load-shedding/load-shedding.guard.js';
import {
  describeApplication,
  headerText,
  PASSED_OVER_HEADER,
  passedOverText,
  wantsRoutingMetadata,
} from '../http/observe/call-headers.js';
import { requestIdOf } from '../http/errors/request-id.js';
import { sendInPieces } from '../http/server/send-in-pieces.js';
import { SlowTransfers } from '../http/server/slow-transfers.js';
import type { WrittenChat } from './chat-call.js';
import { ChatService } from './chat.service.js';
import { HttpChatClient } from './http-chat-client.js';
import { readChatRequest } from './request/read-chat-request.js';

@Injectable()
export class ChatResponder {
  constructor(
    private readonly chat: ChatService,
    private readonly config: AppConfig,
    private readonly transfers: SlowTransfers,
  ) {}

  async respond(request: Request, response: Response, caller: Caller): Promise<void> {
    const receivedAt = performance.now();
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    const client = new HttpChatClient(response, this.config.chat);
    const restore = this.boundConnection(request, client);
    try {
      const body = request.body as Readonly<Record<string, unknown>>;
      const { request: chat, preferences } = readChatRequest(body, takeRawBody(request));
      const written = await this.chat.create({
        caller,
        request: chat,
        preferences,
        receivedAt,
        client,
        wantsRoutingMetadata: wantsRoutingMetadata(request),
        permit,
        context: {
          requestId: requestIdOf(request),
          sessionId: chat.sessionId ?? headerText(request, 'x-session-id') ?? null,
          trace: chat.trace,
          requestContext: describeApplication(request),
        },
      });
      if (written !== null) send(response, written);
    } finally {
      restore();
      permit?.release();
    }
  }

  /** The settings of chats bound the silence and the reader of their connections. */
  private boundConnection({ socket }: Request, client: HttpChatClient): () => void {
    const { timeout = 0 } = socket;
    const grace = this.config.chat.slowReaderTimeout;
    const restorePace = this.transfers.boundReader(socket, { grace, giveUp: () => client.leave('too_slow') });
    socket.setTimeout(0);
    return () => {
      restorePace();
      if (!socket.destroyed) socket.setTimeout(timeout);
    };
  }
}

function send(response: Response, { generationId, body, passedOver }: WrittenChat): void {
  response.setHeader(GENERATION_ID_HEADER, generationHeaderId(generationId));
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', 'application/json; charset=utf-8');
  if (passedOver.length > 0) response.setHeader(PASSED_OVER_HEADER, passedOverText(passedOver));
  sendInPieces(response, body);
}
