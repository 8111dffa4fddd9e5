// POST /chat/completions.
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { AppConfig } from '../config/app-config.js';
import { generationHeaderId } from '../domain/identifiers.js';
import { LargeBody } from '../http/body/large-body.js';
import { KeepsRawBody, takeRawBody } from '../http/body/raw-body.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import { InTrafficClass, permitOf } from '../http/load-shedding/load-shedding.guard.js';
import {
  describeApplication,
  headerText,
  PASSED_OVER_HEADER,
  passedOverText,
  wantsRoutingMetadata,
} from '../http/observe/call-headers.js';
import { requestIdOf } from '../http/observe/request-id.js';
import { SlowTransfers } from '../http/server/slow-transfers.js';
import { ChatService } from './chat.service.js';
import { ChatCompletionDto } from './dto/chat-response.dto.js';
import { CreateChatCompletionDto } from './dto/create-chat-completion.dto.js';
import { HttpChatClient } from './http-chat-client.js';
import { CHAT_BODY, readChatRequest } from './request/read-chat-request.js';

@ApiTags('Chat')
@ApiBearerAuth()
@Controller('chat/completions')
export class ChatController {
  constructor(
    private readonly chat: ChatService,
    private readonly config: AppConfig,
    private readonly transfers: SlowTransfers,
  ) {}

  @Post()
  @HttpCode(200)
  @InferenceOnly()
  @LargeBody()
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  @ApiOperation({
    summary: 'Create a chat completion',
    operationId: 'sendChatCompletionRequest',
    description:
      'With `stream: true` the answer is a stream of server-sent events that ends with `data: [DONE]`; its last chunk ' +
      'before has the usage. A call costs at most its reservation. Calls that fail by the fault of a provider or of this ' +
      'service cost nothing. A call whose caller disconnects is charged for the tokens that its provider bills. ' +
      'Another endpoint, and then another of `models`, is tried until the first content of an answer. Unknown members go ' +
      'to providers with an open schema.',
  })
  @ApiHeader({
    name: 'X-OpenRouter-Metadata',
    description: '`enabled`: the answer describes the routing of the call.',
    required: false,
    schema: { type: 'string' },
  })
  @ApiBody({ type: CreateChatCompletionDto })
  @ApiExtraModels(ChatCompletionDto)
  @ApiOkResponse({
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ChatCompletionDto) } },
      'text/event-stream': { schema: { type: 'string', description: 'With stream: true.' } },
    },
  })
  @ApiErrors(400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529)
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    const receivedAt = performance.now();
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    const restore = this.unboundSilence(request);
    try {
      const caller = callerOf(request);
      const body = request.body as Readonly<Record<string, unknown>>;
      const { request: chat, preferences } = readChatRequest(body, takeRawBody(request));
      const written = await this.chat.create({
        caller,
        request: chat,
        preferences,
        receivedAt,
        client: new HttpChatClient(response, this.config.chat),
        wantsRoutingMetadata: wantsRoutingMetadata(request),
        context: {
          requestId: requestIdOf(request),
          sessionId: chat.sessionId ?? headerText(request, 'x-session-id') ?? null,
          trace: chat.trace,
          requestContext: describeApplication(request),
        },
      });
      if (written === null) return;
      response.setHeader(GENERATION_ID_HEADER, generationHeaderId(written.generationId));
      response.setHeader('cache-control', 'no-store');
      response.setHeader('content-type', 'application/json; charset=utf-8');
      if (written.passedOver.length > 0)
        response.setHeader(PASSED_OVER_HEADER, passedOverText(written.passedOver));
      response.setHeader('content-length', written.body.length);
      response.end(written.body);
    } finally {
      restore();
      permit?.release();
    }
  }

  /** The settings of chats bound the silence of their connections, and not those of other operations. */
  private unboundSilence({ socket }: Request): () => void {
    const { timeout = 0 } = socket;
    const restorePace = this.transfers.exempt(socket);
    socket.setTimeout(0);
    return () => {
      restorePace();
      if (!socket.destroyed) socket.setTimeout(timeout);
    };
  }
}
