// An account's credits on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import { usdToNumber } from '../../domain/spend/money.js';
import type { AccountCredits } from '../../domain/spend/spend.js';

class CreditsDto {
  @ApiProperty({ type: Number, example: 100, description: 'USD bought so far; 0 where is_metered is false.' })
  total_credits: number;

  @ApiProperty({ type: Number, example: 12.5, description: 'USD spent so far.' })
  total_usage: number;

  @ApiProperty({ description: 'False: the account needs no credits, and spends without this limit.' })
  is_metered: boolean;
}

export class CreditsResponseDto {
  @ApiProperty()
  data: CreditsDto;
}

export function toCreditsDto({ bought, spent }: AccountCredits): CreditsDto {
  return {
    total_credits: bought === null ? 0 : usdToNumber(bought),
    total_usage: usdToNumber(spent),
    is_metered: bought !== null,
  };
}
