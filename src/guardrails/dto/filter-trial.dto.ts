// The trial of content filters on the wire: an extension of the contract (docs/contract.md#guardrails).
import {
  BUILTIN_SLUGS,
  FILTER_ACTIONS,
  MAX_CONTENT_FILTERS,
} from '../../domain/guardrails/content-filter.js';
import type { FilterAction } from '../../domain/guardrails/content-filter.js';
import { ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { BuiltinFilterDto, ContentFilterDto } from './content-filter.dto.js';

export const MAX_TRIAL_TEXT = 20_000;
/** Matches that an answer names. */
export const MAX_TRIAL_HITS = 100;

export class TryFiltersDto {
  @ObjectListField(ContentFilterDto, { optional: true, nullable: true, maxItems: MAX_CONTENT_FILTERS })
  content_filters?: ContentFilterDto[] | null;
  @ObjectListField(BuiltinFilterDto, { optional: true, nullable: true, maxItems: BUILTIN_SLUGS.length })
  content_filter_builtins?: BuiltinFilterDto[] | null;
  @TextField({
    maxLength: MAX_TRIAL_TEXT,
    description: 'As a message of a user.',
    example: 'I am ann@example.com',
  })
  text: string;
}

class TrialHitDto {
  @TextField({ description: 'Label or slug of the filter, else its index.' }) filter: string;
  @EnumField(FILTER_ACTIONS) action: FilterAction;
  @IntegerField({ description: 'Position of the match in UTF-16 units.' }) start: number;
  @IntegerField({ description: 'Position behind the match.' }) end: number;
}

export class FilterTrialDto {
  @ObjectListField(TrialHitDto, { description: `In the order of the text, at most ${MAX_TRIAL_HITS}.` })
  hits: TrialHitDto[];
  @IntegerField({ description: 'All matches.' }) hit_count: number;
  @FlagField({ description: 'Whether a call with this text is refused.' }) blocked: boolean;
  @TextField({ nullable: true, description: 'The text that a model gets. Null: the call is refused.' })
  sent_text: string | null;
}
