// Providers on the wire. Contract: docs/contract.md#models.
import { ListField } from '../../http/fields/compound-fields.js';
import { TextField } from '../../http/fields/scalar-fields.js';
import type { Provider } from '../../providers/shared/provider.js';

export class ProviderDto {
  @TextField({ example: 'openai', description: 'The name in provider preferences.' }) slug: string;
  @TextField({ example: 'OpenAI' }) name: string;
  @ListField(String, {
    example: [],
    description: 'Other slugs that preferences, credentials and the catalogue file may use.',
  })
  aliases: readonly string[];
  @TextField({ nullable: true, description: 'Always null.' }) privacy_policy_url: string | null;
}

export function toProviderDto({ slug, name, aliases = [] }: Provider): ProviderDto {
  return { slug, name, aliases, privacy_policy_url: null };
}
