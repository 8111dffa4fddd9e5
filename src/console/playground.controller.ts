// Calls of the console: charged to a key that its user chooses. A cookie alone pays for nothing (docs/contract.md#console).
import { Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NeedsRight, ReadsOnly } from '../auth/auth.decorators.js';
import { attachPayer, managerOf } from '../auth/caller.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ChatResponder } from '../chat/chat-responder.js';
import { CHAT_BODY } from '../chat/request/checked-body.js';
import { EmbeddingsResponder } from '../embeddings/embeddings-responder.js';
import { RerankResponder } from '../rerank/rerank-responder.js';
import { KeepsRawBody } from '../http/body/raw-body.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { PlaygroundService } from './playground.service.js';

@ApiExcludeController()
@ReadsOnly()
@NeedsRight('playground.use')
@LargeBody()
@Controller('console/playground')
export class PlaygroundController {
  constructor(
    private readonly playground: PlaygroundService,
    private readonly embeddings: EmbeddingsResponder,
    private readonly chat: ChatResponder,
    private readonly rerank: RerankResponder,
  ) {}

  /** Body and answer are those of POST /embeddings. */
  @Post('embeddings')
  @HttpCode(200)
  @InTrafficClass('calls')
  async embed(
    @Req() request: Request,
    @Res() response: Response,
    @Query('api_key_hash') hash: unknown,
  ): Promise<void> {
    const payer = await this.choosePayer(request, hash);
    await this.embeddings.respond(request, response, payer);
  }

  /** Body and answer are those of POST /rerank. */
  @Post('rerank')
  @HttpCode(200)
  @InTrafficClass('calls')
  async rank(
    @Req() request: Request,
    @Res() response: Response,
    @Query('api_key_hash') hash: unknown,
  ): Promise<void> {
    const payer = await this.choosePayer(request, hash);
    await this.rerank.respond(request, response, payer);
  }

  /** Body, answer and stream are those of POST /chat/completions. Errors of all wires have the form of the console. */
  @Post('chat/completions')
  @HttpCode(200)
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  async complete(
    @Req() request: Request,
    @Res() response: Response,
    @Query('api_key_hash') hash: unknown,
  ): Promise<void> {
    await this.chat.respond(request, response, await this.choosePayer(request, hash));
  }

  @Post('messages')
  @HttpCode(200)
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  async createMessage(
    @Req() request: Request,
    @Res() response: Response,
    @Query('api_key_hash') hash: unknown,
  ): Promise<void> {
    await this.chat.respond(request, response, await this.choosePayer(request, hash), 'messages');
  }

  @Post('responses')
  @HttpCode(200)
  @KeepsRawBody(CHAT_BODY)
  @InTrafficClass('chats')
  async createResponse(
    @Req() request: Request,
    @Res() response: Response,
    @Query('api_key_hash') hash: unknown,
  ): Promise<void> {
    await this.chat.respond(request, response, await this.choosePayer(request, hash), 'responses');
  }

  private async choosePayer(request: Request, hash: unknown): Promise<Caller> {
    const payer = await this.playground.chooseKey(managerOf(request), hash);
    attachPayer(request, payer);
    return payer;
  }
}
