// POST /embeddings.
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { PassedOverKey } from '../domain/embeddings/passed-over-key.js';
import { AppError } from '../domain/errors.js';
import type { RequestContext } from '../domain/generations/generation.js';
import { generationHeaderId } from '../domain/identifiers.js';
import type { Mutable } from '../domain/members.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { GENERATION_ID_HEADER } from '../http/errors/error.filter.js';
import type { InFlightPermit } from '../http/load-shedding/in-flight-limit.js';
import { InTrafficClass, permitOf } from '../http/load-shedding/load-shedding.guard.js';
import { LargeBody } from '../http/body/large-body.js';
import { sendInPieces } from '../http/server/send-in-pieces.js';
import { requestIdOf } from '../http/observe/request-id.js';
import { CreateEmbeddingDto, readCreateEmbedding } from './dto/create-embedding.dto.js';
import { EmbeddingResponseDto } from './dto/embedding-response.dto.js';
import { fromProviderPreferencesDto } from './dto/provider-preferences.dto.js';
import { EmbeddingsService } from './embeddings.service.js';

const MAX_HEADER_LENGTH = 256;
// The name, and its former name.
const METADATA_HEADERS = ['x-openrouter-metadata', 'x-openrouter-experimental-metadata'] as const;
const CACHE_HEADER = 'X-Embedding-Cache';
const PASSED_OVER_HEADER = 'X-BYOK-Passed-Over';

@ApiTags('Embeddings')
@ApiBearerAuth()
@Controller('embeddings')
export class EmbeddingsController {
  constructor(private readonly embeddings: EmbeddingsService) {}

  @Post()
  @HttpCode(200)
  @InferenceOnly()
  @LargeBody()
  @InTrafficClass('calls')
  @ApiOperation({
    summary: 'Create embeddings',
    operationId: 'createEmbeddings',
    description:
      'A call costs at most the bound of its inputs at the prices of its endpoints, whatever usage a provider reports, ' +
      'and at most its reservation. A large call goes to providers in parts. When it fails by the ' +
      "caller's fault (400, 402, 403, 404, 413), the parts that were served before are charged; when it fails by the " +
      "provider's or this service's fault (408, 429, 5xx), nothing is charged. A call whose caller disconnects continues " +
      'and is charged. `GET /generation` shows the cost of the id in the header `x-generation-id`. Calls that count toward a ' +
      'limit need a known price: endpoints without one are left out (404 when none is left), and a member that changes ' +
      'the price is rejected by name (400). Calls through own provider keys need no known price.',
  })
  @ApiHeader({
    name: 'X-OpenRouter-Metadata',
    description: '`enabled`: the answer describes the routing of the call.',
    required: false,
    schema: { type: 'string' },
  })
  @ApiHeader({
    name: CACHE_HEADER,
    description:
      '`on`: inputs that a call of the same workspace has paid for are answered from the cache at no cost, and identical ' +
      'in-flight inputs are fetched once. Absent: the setting of the key, by default off.',
    required: false,
    schema: { type: 'string', enum: ['on', 'off'] },
  })
  @ApiBody({ type: CreateEmbeddingDto })
  @ApiOkResponse({
    type: EmbeddingResponseDto,
    headers: {
      [PASSED_OVER_HEADER]: {
        description:
          "Own provider keys that the operator's credential replaced, which is paid for, each with the reason: " +
          'used_up, refused, rate_limited, unsupported or unavailable. Absent: none.',
        schema: { type: 'string' },
      },
      [CACHE_HEADER]: {
        description:
          'Whether all, some or none of the vectors are `cached`. `bypass`: the body has unknown members, which may ' +
          'change vectors, or parts behind http(s) addresses. Only with the cache on.',
        schema: { type: 'string', enum: ['hit', 'partial', 'miss', 'bypass'] },
      },
    },
  })
  @ApiErrors(400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529)
  // Without @CurrentCaller(): its pipes would cost every call seven promises.
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    const permit = permitOf(request);
    // The work may outlive the caller's connection, and still counts toward the load.
    permit?.hold();
    try {
      await this.answer(request, response, permit);
    } finally {
      permit?.release();
    }
  }

  private async answer(request: Request, response: Response, permit: InFlightPermit | null): Promise<void> {
    const caller = callerOf(request);
    const body = readCreateEmbedding(request.body as Record<string, unknown>);
    const preferences = fromProviderPreferencesDto(body.provider);
    const context = {
      requestId: requestIdOf(request),
      sessionId: body.session_id ?? headerText(request, 'x-session-id') ?? null,
      trace: body.trace ?? null,
      requestContext: describeApplication(request),
    };
    const answer = await this.embeddings.create({
      caller,
      request: toEmbeddingRequest(body),
      preferences,
      context,
      permit,
      wantsCache: readCacheHeader(request) ?? caller.key.embeddingCache,
      wantsRoutingMetadata: METADATA_HEADERS.some((name) => isEnabled(request.headers[name])),
    });
    response.setHeader(GENERATION_ID_HEADER, generationHeaderId(answer.generationId));
    if (answer.cacheOutcome !== null) response.setHeader(CACHE_HEADER, answer.cacheOutcome);
    if (answer.passedOver.length > 0)
      response.setHeader(PASSED_OVER_HEADER, passedOverText(answer.passedOver));
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

/** `openai;reason=used_up, azure;reason=refused` */
function passedOverText(keys: readonly PassedOverKey[]): string {
  return [...new Set(keys.map(({ provider, reason }) => `${provider};reason=${reason}`))].join(', ');
}

function describeApplication(request: Request): RequestContext {
  const userAgent = headerText(request, 'user-agent');
  const referer = headerText(request, 'http-referer') ?? headerText(request, 'referer');
  const title = headerText(request, 'x-openrouter-title') ?? headerText(request, 'x-title');
  const context: Mutable<RequestContext> = {};
  if (userAgent) context.userAgent = userAgent;
  if (referer) context.referer = referer;
  if (title) context.title = title;
  return context;
}

/** Any other value is ignored. */
function isEnabled(value: string | string[] | undefined): boolean {
  return typeof value === 'string' && value.trim().toLowerCase() === 'enabled';
}

/** Throws `invalid_request` for other values than on and off: the answer would not show a misspelt value. */
function readCacheHeader(request: Request): boolean | undefined {
  const value = headerText(request, CACHE_HEADER.toLowerCase())?.trim().toLowerCase();
  if (value === undefined) return undefined;
  if (value === 'on' || value === 'off') return value === 'on';
  throw new AppError('invalid_request', { detail: `${CACHE_HEADER}: must be on or off` });
}

/** Headers are the caller's bytes: cut, and well-formed for the log. */
function headerText(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value.slice(0, MAX_HEADER_LENGTH).toWellFormed() : undefined;
}
