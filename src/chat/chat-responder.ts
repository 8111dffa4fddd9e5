// Answers a request with the answer of a model, in the wire of its client, for the caller that pays.
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../config/app-config.js';
import type { ModelWire } from '../domain/chat/model-wire.js';
import type { Caller } from '../domain/keys/api-key.js';
import { takeRawBody } from '../http/body/raw-body.js';
import { permitOf } from '../http/load-shedding/load-shedding.guard.js';
import {
  callContextOf,
  headerText,
  setAnswerHeaders,
  wantsRoutingMetadata,
} from '../http/observe/call-headers.js';
import { sendInPieces } from '../http/server/send-in-pieces.js';
import { SlowTransfers } from '../http/server/slow-transfers.js';
import { ContentFilters } from '../routing/guardrails/content-filters.js';
import { Guardrails } from '../routing/guardrails/guardrails.js';
import type { WrittenChat } from './chat-call.js';
import { ChatService } from './chat.service.js';
import { HttpChatClient, nameGeneration } from './http-chat-client.js';
import { PresetRequests } from './presets/preset-requests.js';
import { REQUEST_READERS } from './request/request-form.js';

/** A coding agent's own session: of Claude Code, and of Codex. */
const AGENT_SESSIONS = ['x-claude-code-session-id', 'session-id'];

@Injectable()
export class ChatResponder {
  constructor(
    private readonly chat: ChatService,
    private readonly presets: PresetRequests,
    private readonly guardrails: Guardrails,
    private readonly filters: ContentFilters,
    private readonly config: AppConfig,
    private readonly transfers: SlowTransfers,
  ) {}

  async respond(
    request: Request,
    response: Response,
    caller: Caller,
    wire: ModelWire = 'chat',
  ): Promise<void> {
    const receivedAt = performance.now();
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    const client = new HttpChatClient(response, this.config.chat, wire);
    const restore = this.boundConnection(request, client);
    try {
      const guarded = await this.guardrails.callerOf(caller);
      const body = request.body as Readonly<Record<string, unknown>>;
      const sent = { wire, body, bytes: takeRawBody(request) };
      const { request: chat, preferences } = await this.presets.read(
        caller.key.workspaceId,
        sent,
        this.filters.before(guarded, (members, bytes) =>
          REQUEST_READERS[wire](members, bytes, request.headers),
        ),
      );
      const written = await this.chat.create({
        caller: guarded,
        request: chat,
        preferences,
        receivedAt,
        client,
        wantsRoutingMetadata: wantsRoutingMetadata(request),
        permit,
        context: callContextOf(request, chat.sessionId ?? sessionIn(request), chat.trace),
      });
      if (written !== null) send(response, written, wire);
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

function sessionIn(request: Request): string | undefined {
  const agents = AGENT_SESSIONS.map((name) => headerText(request, name));
  return headerText(request, 'x-session-id') ?? agents.find((session) => session);
}

function send(response: Response, { generationId, body, ...facts }: WrittenChat, wire: ModelWire): void {
  nameGeneration(response, generationId, wire);
  setAnswerHeaders(response, facts);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', 'application/json; charset=utf-8');
  sendInPieces(response, body);
}
