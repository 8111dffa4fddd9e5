// Answers a request with the vectors of its body, for the caller that pays.
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { generationHeaderId } from '../domain/identifiers.js';
import type { Caller } from '../domain/keys/api-key.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import type { InFlightPermit } from '../http/load-shedding/in-flight-limit.js';
import { permitOf } from '../http/load-shedding/load-shedding.guard.js';
import {
  callContextOf,
  headerText,
  setAnswerHeaders,
  wantsRoutingMetadata,
} from '../http/observe/call-headers.js';
import { sendInPieces } from '../http/server/send-in-pieces.js';
import { ContentFilters } from '../routing/guardrails/content-filters.js';
import { Guardrails } from '../routing/guardrails/guardrails.js';
import type { CreateEmbeddingDto } from './dto/create-embedding.dto.js';
import { readCreateEmbedding } from './dto/create-embedding.dto.js';
import { fromProviderPreferencesDto } from '../http/dto/provider-preferences.dto.js';
import { EmbeddingsService } from './embeddings.service.js';

export const CACHE_HEADER = 'X-Embedding-Cache';
/** The vectors are those of redacted texts. */
export const GUARDRAIL_HEADER = 'X-Guardrail';

@Injectable()
export class EmbeddingsResponder {
  constructor(
    private readonly embeddings: EmbeddingsService,
    private readonly guardrails: Guardrails,
    private readonly filters: ContentFilters,
  ) {}

  async respond(request: Request, response: Response, caller: Caller): Promise<void> {
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    try {
      await this.answer(request, response, caller, permit);
    } finally {
      permit?.release();
    }
  }

  private async answer(
    request: Request,
    response: Response,
    caller: Caller,
    permit: InFlightPermit | null,
  ): Promise<void> {
    // Without guardrails a call waits for nothing.
    const found = this.guardrails.callerOf(caller);
    const guarded = found instanceof Promise ? await found : found;
    const sent = request.body as Record<string, unknown>;
    const filtered = guarded.guardrails === null ? null : await this.filters.apply(guarded, sent);
    const body = readCreateEmbedding(filtered?.body ?? sent);
    const preferences = fromProviderPreferencesDto(body.provider);
    const answer = await this.embeddings.create({
      caller: guarded,
      request: toEmbeddingRequest(body),
      preferences,
      context: callContextOf(request, body.session_id, body.trace),
      permit,
      wantsCache: readCacheHeader(request) ?? caller.key.embeddingCache,
      wantsRoutingMetadata: wantsRoutingMetadata(request),
    });
    response.setHeader(GENERATION_ID_HEADER, generationHeaderId(answer.generationId));
    if (filtered?.isRedacted) response.setHeader(GUARDRAIL_HEADER, 'redacted');
    if (answer.cacheOutcome !== null) response.setHeader(CACHE_HEADER, answer.cacheOutcome);
    setAnswerHeaders(response, answer);
    response.setHeader('content-type', 'application/json; charset=utf-8');
    sendInPieces(response, answer.pieces);
  }
}

function toEmbeddingRequest(body: CreateEmbeddingDto): EmbeddingRequest {
  return {
    model: body.model,
    input: body.input,
    encodingFormat: body.encoding_format,
    extra: body.extra,
    dimensions: body.dimensions,
    inputType: body.input_type,
    user: body.user,
  };
}

/** Throws `invalid_request` for other values than on and off: the answer would not show a misspelt value. */
function readCacheHeader(request: Request): boolean | undefined {
  const value = headerText(request, CACHE_HEADER.toLowerCase())?.trim().toLowerCase();
  if (value === undefined) return undefined;
  if (value === 'on' || value === 'off') return value === 'on';
  throw new AppError('invalid_request', { detail: `${CACHE_HEADER}: must be on or off` });
}
