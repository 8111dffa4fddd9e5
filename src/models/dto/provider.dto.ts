// Providers and their tests on the wire. Contract: docs/contract.md#models.
import { endpointTag } from '../../catalogue/catalogue-model.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { ListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  TextField,
  UsdField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import type { Provider } from '../../providers/shared/provider.js';
import type { ProviderTest } from '../provider-test.service.js';

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

export class TestProviderDto {
  @UuidField({
    optional: true,
    description: "An own provider key of the account. Default: the operator's credential.",
  })
  byok_id?: string;

  @TextField({
    optional: true,
    minLength: 1,
    maxLength: 256,
    description: 'A model of the provider. Default: its cheapest one for texts.',
  })
  model?: string;
}

export class ProviderTestDto {
  @FlagField({ description: 'Whether the provider answered with a vector of the right width.' }) ok: boolean;
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ example: 'OpenAI' }) provider_name: string;
  @TextField({ nullable: true, description: 'Null: the catalogue has none.' }) model: string | null;
  @TextField({ nullable: true }) endpoint_id: string | null;
  @EnumField(['shared', 'byok']) credential: string;
  @UuidField({ nullable: true, description: 'The own provider key.' }) byok_id: string | null;
  @IntegerField({ nullable: true, description: 'HTTP status of the provider; null: no response.' })
  status: number | null;
  @TextField({
    nullable: true,
    description: "The problem in the provider's words, without secrets; null: none.",
  })
  reason: string | null;
  @IntegerField({ nullable: true, description: 'Tokens that the provider counted.' }) tokens: number | null;
  @UsdField({ nullable: true, description: 'USD that the provider charges; null: unknown.' }) cost:
    number | null;
  @IntegerField({ nullable: true, description: 'Width of the vector.' }) dimensions: number | null;
  @IntegerField({ description: 'Milliseconds.' }) latency: number;
}

export function toProviderTestDto(test: ProviderTest): ProviderTestDto {
  const { provider, target, cost } = test;
  return {
    ok: test.problem === null,
    provider: provider.slug,
    provider_name: provider.name,
    model: target?.model.id ?? null,
    endpoint_id: target && `${endpointTag(target.endpoint)}/${target.endpoint.upstreamModel}`,
    credential: test.credentialId === null ? 'shared' : 'byok',
    byok_id: test.credentialId,
    status: test.status,
    reason: test.problem,
    tokens: test.tokens,
    cost: cost === null ? null : usdToNumber(cost),
    dimensions: test.dimensions,
    latency: test.durationMs,
  };
}
