// A row of the list of API keys on the wire. Contract: docs/contract.md#api-keys.
import type { ApiKeyWithSpend } from '../../domain/keys/api-key.js';
import { usdToNumber } from '../../domain/spend/money.js';
import type { EffectiveLimit } from '../../domain/spend/spend-limit.js';
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { DayField, EnumField, TimeField, UsdField } from '../../http/fields/scalar-fields.js';
import { ApiKeyDto, toApiKeyDto } from './api-key.dto.js';

class EffectiveLimitDto {
  @EnumField(['key', 'workspace', 'account'], {
    description: '`workspace`: a budget. `account`: its credits.',
  })
  limit_source: string;
  @EnumField(['daily', 'weekly', 'monthly', 'lifetime']) limit_window: string;
  @UsdField() limit_usd: number;
  @UsdField() spend_usd: number;
  @UsdField({ description: '0: calls are refused.' }) remaining_usd: number;
  @TimeField({ nullable: true }) resets_at: string | null;
}

export class ListedKeyDto extends ApiKeyDto {
  @ObjectField(EffectiveLimitDto, {
    nullable: true,
    description: 'The limit that stops the key first: its own, a budget or the credits. Null: there is none.',
  })
  effective_limit: EffectiveLimitDto | null;
  @DayField({
    nullable: true,
    description:
      'UTC day of the last call. Calls without a charge appear once they are summed up, within minutes.',
  })
  last_used_on: string | null;
}

export class ApiKeysResponseDto {
  @ObjectListField(ListedKeyDto, { description: 'Newest first, at most 100.' }) data: ListedKeyDto[];
}

export interface ListedKey extends ApiKeyWithSpend {
  readonly effectiveLimit: EffectiveLimit | null;
  readonly lastUsedOn: string | null;
}

export function toListedKeyDto(listed: ListedKey): ListedKeyDto {
  return Object.assign(toApiKeyDto(listed), {
    effective_limit: listed.effectiveLimit && toEffectiveLimitDto(listed.effectiveLimit),
    last_used_on: listed.lastUsedOn,
  });
}

function toEffectiveLimitDto({ source, window, limit, spent, resetsAt }: EffectiveLimit): EffectiveLimitDto {
  return {
    limit_source: source,
    limit_window: window === 'total' ? 'lifetime' : window,
    limit_usd: usdToNumber(limit),
    spend_usd: usdToNumber(spent),
    remaining_usd: spent < limit ? usdToNumber(limit - spent) : 0,
    resets_at: resetsAt?.toISOString() ?? null,
  };
}
