// POST /messages, and the count of a prompt's tokens (docs/contract.md#messages).
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly, ReadsOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { KeepsRawBody, takeRawBody } from '../http/body/raw-body.js';
import { Operation } from '../http/openapi/operation.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { ContentFilters } from '../routing/guardrails/content-filters.js';
import { Guardrails } from '../routing/guardrails/guardrails.js';
import { ChatResponder } from './chat-responder.js';
import { CreateMessageDto } from './dto/create-message.dto.js';
import { MessageDto, TokenCountDto } from './dto/message.dto.js';
import { PresetRequests } from './presets/preset-requests.js';
import { readMessagesRequest } from './request/messages/read-messages-request.js';
import { CHAT_BODY } from './request/checked-body.js';
import { TokenCounts } from './token-counts.js';

/** A count that this service made itself. */
const ESTIMATED = { 'X-Token-Count': 'estimated' };

@ApiTags('Messages')
@ApiBearerAuth()
@Controller('messages')
export class MessagesController {
  constructor(
    private readonly responder: ChatResponder,
    private readonly counts: TokenCounts,
    private readonly presets: PresetRequests,
    private readonly guardrails: Guardrails,
    private readonly filters: ContentFilters,
  ) {}

  @Post()
  @InferenceOnly()
  @LargeBody()
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  @Operation({
    id: 'createMessages',
    summary: 'Create a message',
    description:
      "Anthropic's Messages wire, for every chat model. Endpoints of the same wire get the bytes of the body and their " +
      'answers pass; for others both are translated. `model` also takes the bare name of a model. Also at ' +
      '`/v1/messages`, without the prefix. Errors and events have the form of the wire.',
    answer: {
      content: {
        'application/json': { schema: { $ref: getSchemaPath(MessageDto) } },
        'text/event-stream': { schema: { type: 'string', description: 'With stream: true.' } },
      },
    },
    errors: [402, 403, 404, 408, 502, 524, 529],
  })
  @ApiBody({ type: CreateMessageDto })
  @ApiExtraModels(MessageDto)
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.responder.respond(request, response, callerOf(request), 'messages');
  }

  @Post('count_tokens')
  @HttpCode(200)
  @InferenceOnly()
  @ReadsOnly()
  @LargeBody()
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('operations')
  @Operation({
    id: 'countMessagesTokens',
    summary: 'Count the tokens of a prompt',
    description:
      'Costs nothing and leaves no generation. The provider counts where it can; else this service does, and the header ' +
      '`X-Token-Count: estimated` says so.',
    answer: TokenCountDto,
    errors: [403, 404],
  })
  @ApiBody({ type: CreateMessageDto })
  async count(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TokenCountDto> {
    const body = request.body as Readonly<Record<string, unknown>>;
    const caller = callerOf(request);
    const guarded = await this.guardrails.callerOf(caller);
    const sent = { wire: 'messages' as const, body, bytes: takeRawBody(request) };
    const reader = this.filters.before(guarded, (members, bytes) =>
      readMessagesRequest(members, bytes, request.headers, true),
    );
    const read = await this.presets.read(caller.key.workspaceId, sent, reader);
    const { tokens, isEstimated } = await this.counts.count(guarded, read);
    if (isEstimated) response.set(ESTIMATED);
    return { input_tokens: tokens };
  }
}
