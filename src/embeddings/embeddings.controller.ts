// POST /embeddings.
import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { Operation } from '../http/openapi/operation.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { CreateEmbeddingDto } from './dto/create-embedding.dto.js';
import { EmbeddingResponseDto } from './dto/embedding-response.dto.js';
import { PASSED_OVER_HEADER } from '../http/observe/call-headers.js';
import { CACHE_HEADER, EmbeddingsResponder, GUARDRAIL_HEADER } from './embeddings-responder.js';

@ApiTags('Embeddings')
@ApiBearerAuth()
@Controller('embeddings')
export class EmbeddingsController {
  constructor(private readonly responder: EmbeddingsResponder) {}

  @Post()
  @InferenceOnly()
  @LargeBody()
  @InTrafficClass('calls')
  @Operation({
    id: 'createEmbeddings',
    summary: 'Create embeddings',
    description:
      'A call costs at most the bound of its inputs at the prices of its endpoints, whatever usage a provider reports, ' +
      'and at most its reservation. A large call goes to providers in parts. When it fails by the ' +
      "caller's fault (400, 402, 403, 404, 413), the parts that were served before are charged; when it fails by the " +
      "provider's or this service's fault (408, 429, 5xx), nothing is charged. A call whose caller disconnects continues " +
      'and is charged. `GET /generation` shows the cost of the id in the header `x-generation-id`. Calls that count toward a ' +
      'limit need a known price: endpoints without one are left out (404 when none is left), and a member that changes ' +
      'the price is rejected by name (400). Calls through own provider keys need no known price.',
    answer: {
      type: EmbeddingResponseDto,
      headers: {
        [PASSED_OVER_HEADER]: {
          description:
            "Own provider keys that the operator's credential replaced, which is paid for, each with the reason: " +
            'used_up, refused, rate_limited, unsupported or unavailable. Absent: none.',
          schema: { type: 'string' },
        },
        [GUARDRAIL_HEADER]: {
          description:
            '`redacted`: a guardrail has edited inputs, and the vectors are those of the edited texts.',
          schema: { type: 'string', enum: ['redacted'] },
        },
        [CACHE_HEADER]: {
          description:
            'Whether all, some or none of the vectors are `cached`. `bypass`: the body has unknown members, which may ' +
            'change vectors, or parts behind http(s) addresses. Only with the cache on.',
          schema: { type: 'string', enum: ['hit', 'partial', 'miss', 'bypass'] },
        },
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
  @ApiHeader({
    name: CACHE_HEADER,
    description:
      '`on`: inputs that a call of the same workspace has paid for are answered from the cache at no cost, and identical ' +
      'in-flight inputs are fetched once. Absent: the setting of the key, by default off.',
    required: false,
    schema: { type: 'string', enum: ['on', 'off'] },
  })
  @ApiBody({ type: CreateEmbeddingDto })
  // Without @CurrentCaller(): its pipes would cost every call seven promises.
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.responder.respond(request, response, callerOf(request));
  }
}
