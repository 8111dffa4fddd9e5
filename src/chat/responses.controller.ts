// POST /responses (docs/contract.md#responses).
import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { KeepsRawBody } from '../http/body/raw-body.js';
import { Operation } from '../http/openapi/operation.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { ChatResponder } from './chat-responder.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { ResponseDto } from './dto/response.dto.js';
import { CHAT_BODY } from './request/checked-body.js';

@ApiTags('Responses')
@ApiBearerAuth()
@Controller('responses')
export class ResponsesController {
  constructor(private readonly responder: ChatResponder) {}

  @Post()
  @InferenceOnly()
  @LargeBody()
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  @Operation({
    id: 'createResponses',
    summary: 'Create a response',
    description:
      "OpenAI's Responses wire, for every chat model, without state: the input is the whole conversation. Also at " +
      '`/v1/responses`, without the prefix. Errors and events have the form of the wire.',
    answer: {
      content: {
        'application/json': { schema: { $ref: getSchemaPath(ResponseDto) } },
        'text/event-stream': { schema: { type: 'string', description: 'With stream: true.' } },
      },
    },
    errors: [402, 403, 404, 408, 502, 524, 529],
  })
  @ApiBody({ type: CreateResponseDto })
  @ApiExtraModels(ResponseDto)
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.responder.respond(request, response, callerOf(request), 'responses');
  }
}
