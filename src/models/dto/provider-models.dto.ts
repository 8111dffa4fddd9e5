// The models that a provider lists, on the wire. Contract: docs/contract.md#discovery.
import { MODEL_KINDS } from '../../domain/providers/provider-model.js';
import { ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  DayField,
  EnumField,
  FlagField,
  IntegerField,
  TextField,
  TimeField,
} from '../../http/fields/scalar-fields.js';
import type { MatchedModel, ProviderModels } from '../provider-models.service.js';

class StatedPriceDto {
  @TextField({ example: '0.25' }) prompt: string;
  @TextField({ example: '2' }) completion: string;
}

class ProviderModelDto {
  @TextField({ example: 'gpt-5-mini', description: 'The name that the provider has for it.' }) name: string;
  @ListField(String, { description: 'The models of the catalogue with an endpoint of this name.' })
  ids: readonly string[];
  @TimeField() first_seen: string;
  @TimeField() last_seen: string;
  @EnumField(MODEL_KINDS, { nullable: true, description: 'Null: the provider does not say.' })
  kind: string | null;
  @TextField({ nullable: true }) display_name: string | null;
  @IntegerField({ nullable: true }) context_length: number | null;
  @IntegerField({ nullable: true }) max_output_tokens: number | null;
  @ObjectField(StatedPriceDto, {
    nullable: true,
    description: 'USD per million tokens as the provider states them. No call is charged by them.',
  })
  usd_per_million_tokens: StatedPriceDto | null;
  @DayField({ nullable: true }) released_on: string | null;
  @DayField({ nullable: true }) retires_on: string | null;
  @TextField({ nullable: true }) successor: string | null;
  @ListField(String, { description: 'Other names of the provider.' }) aliases: readonly string[];
}

export class ProviderModelsDto {
  @TextField({ example: 'openai' }) provider: string;
  @FlagField({ description: "Whether the provider has a list, and the operator's credential for it is set." })
  can_ask: boolean;
  @TimeField({ nullable: true, description: 'The newest request; null: none yet.' }) asked_at: string | null;
  @TimeField({ nullable: true, description: 'The newest answer; null: none yet.' }) answered_at:
    string | null;
  @TextField({ nullable: true, description: 'Why the newest request has no answer; null: it has one.' })
  problem: string | null;
  @ObjectListField(ProviderModelDto, { description: 'By name; those of the last 30 days.' })
  models: ProviderModelDto[];
}

export function toProviderModelsDto(found: ProviderModels): ProviderModelsDto {
  return {
    provider: found.provider.slug,
    can_ask: found.canAsk,
    asked_at: found.askedAt?.toISOString() ?? null,
    answered_at: found.answeredAt?.toISOString() ?? null,
    problem: found.problem,
    models: found.models.map(toProviderModelDto),
  };
}

function toProviderModelDto({ name, ids, firstSeen, lastSeen, facts }: MatchedModel): ProviderModelDto {
  return {
    name,
    ids,
    first_seen: firstSeen.toISOString(),
    last_seen: lastSeen.toISOString(),
    kind: facts.kind,
    display_name: facts.displayName,
    context_length: facts.contextLength,
    max_output_tokens: facts.maxOutputTokens,
    usd_per_million_tokens: facts.prices,
    released_on: facts.releasedOn,
    retires_on: facts.retiresOn,
    successor: facts.successor,
    aliases: facts.aliases,
  };
}
