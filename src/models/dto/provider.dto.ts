// Providers on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import type { EmbeddingProvider } from '../../providers/shared/provider.js';

class ProviderDto {
  @ApiProperty({ example: 'openai', description: 'What the preferences of a request name.' })
  slug: string;

  @ApiProperty({ example: 'OpenAI' })
  name: string;

  @ApiProperty({ type: String, nullable: true, description: 'Always null: not kept here.' })
  privacy_policy_url: string | null;
}

export class ProviderListDto {
  @ApiProperty({ type: [ProviderDto] })
  data: ProviderDto[];
}

export function toProviderDto({ slug, name }: EmbeddingProvider): ProviderDto {
  return { slug, name, privacy_policy_url: null };
}
