// The limit that stops a key first, on the wire. Contract: docs/contract.md#api-keys.
import { usdToNumber } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import type { EffectiveLimit } from '../../domain/spend/spend-limit.js';
import { EnumField, TimeField, UsdField } from '../../http/fields/scalar-fields.js';

export class EffectiveLimitDto {
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

export function toEffectiveLimitDto({
  source,
  window,
  limit,
  spent,
  resetsAt,
}: EffectiveLimit): EffectiveLimitDto {
  return {
    limit_source: source,
    limit_window: limitWindowName({ window }),
    limit_usd: usdToNumber(limit),
    spend_usd: usdToNumber(spent),
    remaining_usd: spent < limit ? usdToNumber(limit - spent) : 0,
    resets_at: resetsAt?.toISOString() ?? null,
  };
}
