// Tries content filters on a text before they are stored. Nothing is stored or counted.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../concurrency/yield-queue.js';
import {
  compileFilters,
  editedText,
  hitsIn,
  redactions,
  refusingHit,
} from '../domain/guardrails/filtered-text.js';
import type { Manager } from '../domain/people/manager.js';
import { atPace } from '../routing/guardrails/content-filters.js';
import { fromBuiltinFilterDtos, fromContentFilterDtos } from './dto/content-filter.dto.js';
import { MAX_TRIAL_HITS } from './dto/filter-trial.dto.js';
import type { FilterTrialDto, TryFiltersDto } from './dto/filter-trial.dto.js';

const TRIED = { id: '', name: '', scope: 'api_key' } as const;

@Injectable()
export class FilterTrials {
  constructor(private readonly yieldQueue: YieldQueue) {}

  /** Throws `invalid_request` for patterns that cannot work. */
  async run({ accountId }: Manager, { text, ...dto }: TryFiltersDto): Promise<FilterTrialDto> {
    const filters = compileFilters([
      {
        ...TRIED,
        contentFilters: fromContentFilterDtos(dto.content_filters ?? []),
        builtinFilters: fromBuiltinFilterDtos(dto.content_filter_builtins ?? []),
      },
    ]);
    const pace = this.yieldQueue.begin(accountId);
    const hits = filters === null ? [] : await atPace(hitsIn(filters, text, true), pace);
    const isRefused = refusingHit(hits) !== undefined;
    return {
      hits: hits
        .toSorted((one, other) => one.start - other.start)
        .slice(0, MAX_TRIAL_HITS)
        .map(({ filter, start, end }) => ({ filter: filter.name, action: filter.action, start, end })),
      hit_count: hits.length,
      blocked: isRefused,
      sent_text: isRefused ? null : editedText(text, redactions(hits)),
    };
  }
}
