// The search of an account: an extension of the contract (docs/contract.md#search).
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { SearchQueryDto, SearchResultDto } from './dto/search.dto.js';
import { SearchService } from './search.service.js';

@ApiTags('Search')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@NeedsRight('calls.read')
@Controller('search')
export class SearchController {
  constructor(private readonly searches: SearchService) {}

  @Get()
  @Operation({
    id: 'search',
    summary: 'Find calls, keys, sessions and users',
    description:
      'By the id of a generation, the request id of a response, the id that a provider gave a call, a session, a user, the hash ' +
      'of a key, or a part of its name or label. All workspaces of the account are searched, over the whole log.',
    answer: listOf(SearchResultDto, {
      name: 'SearchResponseDto',
      description: 'Calls, refused calls, keys, sessions, users: each newest first, at most 20 of a kind.',
    }),
  })
  async search(
    @CurrentManager() manager: Manager,
    @Query() { q }: SearchQueryDto,
  ): Promise<Data<SearchResultDto[]>> {
    return { data: await this.searches.find(manager, q) };
  }
}
