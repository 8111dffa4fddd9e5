// Answers a request with its documents in the order of their relevance, for the caller that pays.
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { generationHeaderId } from '../domain/identifiers.js';
import type { Caller } from '../domain/keys/api-key.js';
import { fromProviderPreferencesDto } from '../http/dto/provider-preferences.dto.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import { permitOf } from '../http/load-shedding/load-shedding.guard.js';
import { callContextOf, setAnswerHeaders, wantsRoutingMetadata } from '../http/observe/call-headers.js';
import { ContentFilters } from '../routing/guardrails/content-filters.js';
import { Guardrails } from '../routing/guardrails/guardrails.js';
import { readCreateRerank, toRerankRequest } from './dto/create-rerank.dto.js';
import { toRerankResponseDto } from './dto/rerank-response.dto.js';
import { RerankService } from './rerank.service.js';

// The documents are in memory again as a part of the answer.
const COPIES = 2;

@Injectable()
export class RerankResponder {
  constructor(
    private readonly rerank: RerankService,
    private readonly guardrails: Guardrails,
    private readonly filters: ContentFilters,
  ) {}

  async respond(request: Request, response: Response, caller: Caller): Promise<void> {
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    try {
      const guarded = await this.guardrails.callerOf(caller);
      const sent = request.body as Record<string, unknown>;
      const filtered = guarded.guardrails === null ? null : await this.filters.apply(guarded, sent);
      const body = readCreateRerank(filtered?.body ?? sent);
      permit?.acquireBytes(COPIES * Number(request.headers['content-length'] ?? 0));
      const answer = await this.rerank.create({
        caller: guarded,
        request: toRerankRequest(body),
        preferences: fromProviderPreferencesDto(body.provider),
        context: callContextOf(request, body.session_id, body.trace),
        wantsRoutingMetadata: wantsRoutingMetadata(request),
      });
      response.setHeader(GENERATION_ID_HEADER, generationHeaderId(answer.generationId));
      setAnswerHeaders(response, answer);
      response.status(200).json(toRerankResponseDto(answer, body.documents));
    } finally {
      permit?.release();
    }
  }
}
