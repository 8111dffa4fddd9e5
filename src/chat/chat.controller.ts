// POST /chat/completions.
import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiExtraModels, ApiHeader, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { KeepsRawBody } from '../http/body/raw-body.js';
import { Operation } from '../http/openapi/operation.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { ChatResponder } from './chat-responder.js';
import { ChatCompletionDto } from './dto/chat-response.dto.js';
import { CreateChatCompletionDto } from './dto/create-chat-completion.dto.js';
import { CHAT_BODY } from './request/checked-body.js';

@ApiTags('Chat')
@ApiBearerAuth()
@Controller('chat/completions')
export class ChatController {
  constructor(private readonly responder: ChatResponder) {}

  @Post()
  @InferenceOnly()
  @LargeBody()
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  @Operation({
    id: 'sendChatCompletionRequest',
    summary: 'Create a chat completion',
    description:
      'With `stream: true` the answer is a stream of server-sent events that ends with `data: [DONE]`; its last chunk ' +
      'before has the usage. A call costs at most its reservation. Calls that fail by the fault of a provider or by a ' +
      'time-out of this service cost nothing. A call whose caller disconnects, and one that a bound of its size or its ' +
      'deadline ends, is charged for the tokens that its provider bills. ' +
      'Another endpoint, and then another of `models`, is tried until the first content of an answer. Members that a ' +
      'provider does not take are dropped, and the attempt names them.',
    answer: {
      content: {
        'application/json': { schema: { $ref: getSchemaPath(ChatCompletionDto) } },
        'text/event-stream': { schema: { type: 'string', description: 'With stream: true.' } },
      },
    },
    errors: [402, 403, 404, 408, 502, 524, 529],
  })
  @ApiHeader({
    name: 'X-OpenRouter-Metadata',
    description: '`enabled`: the answer describes the routing of the call.',
    required: false,
    schema: { type: 'string' },
  })
  @ApiBody({ type: CreateChatCompletionDto })
  @ApiExtraModels(ChatCompletionDto)
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.responder.respond(request, response, callerOf(request));
  }
}
