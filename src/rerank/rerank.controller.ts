// POST /rerank.
import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { InferenceOnly } from '../auth/auth.decorators.js';
import { callerOf } from '../auth/caller.js';
import { InTrafficClass, LargeBody } from '../http/load-shedding/load-shedding.guard.js';
import { PASSED_OVER_HEADER } from '../http/observe/call-headers.js';
import { Operation } from '../http/openapi/operation.js';
import { CreateRerankDto } from './dto/create-rerank.dto.js';
import { RerankResponseDto } from './dto/rerank-response.dto.js';
import { RerankResponder } from './rerank-responder.js';

@ApiTags('Rerank')
@ApiBearerAuth()
@Controller('rerank')
export class RerankController {
  constructor(private readonly responder: RerankResponder) {}

  @Post()
  @HttpCode(200)
  @InferenceOnly()
  @LargeBody()
  @InTrafficClass('calls')
  @Operation({
    id: 'createRerank',
    summary: 'Rank documents by their relevance to a query',
    description:
      'Results come the best first, cut to `top_n`, with the index and the text of the request, whatever the server returns. ' +
      'A call falls back between the endpoints of its model only, and one endpoint scores all documents. It costs at most the ' +
      'bound of its documents at the prices of its endpoints, and at most its reservation; when it fails by the ' +
      "provider's or this service's fault (408, 429, 5xx), nothing is charged. `GET /generation` shows the cost of the id in the " +
      'header `x-generation-id`.',
    answer: {
      type: RerankResponseDto,
      headers: {
        [PASSED_OVER_HEADER]: {
          description:
            "Own provider keys that the operator's credential replaced, which is paid for, each with the reason: " +
            'used_up, refused, rate_limited, unsupported or unavailable. Absent: none.',
          schema: { type: 'string' },
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
  @ApiBody({ type: CreateRerankDto })
  async create(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.responder.respond(request, response, callerOf(request));
  }
}
