// An account's credits on the wire. Contract: docs/contract.md#activity-and-analytics.
import { usdToNumber } from '../../domain/spend/money.js';
import type { AccountCredits } from '../../domain/spend/spend.js';
import { FlagField, UsdField } from '../../http/fields/scalar-fields.js';

export class CreditsDto {
  @UsdField({ example: 100, description: 'USD bought; 0 where is_metered is false.' }) total_credits: number;
  @UsdField({ example: 12.5, description: 'USD spent.' }) total_usage: number;
  @FlagField({ description: 'False: the account spends without credits, and no balance limits it.' })
  is_metered: boolean;
}

export function toCreditsDto({ bought, spent }: AccountCredits): CreditsDto {
  return {
    total_credits: bought === null ? 0 : usdToNumber(bought),
    total_usage: usdToNumber(spent),
    is_metered: bought !== null,
  };
}
