// Identity providers on the wire. Contract: docs/contract.md#people.
import { ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { EnumField, IntegerField, TextField, TimeField } from '../../http/fields/scalar-fields.js';
import type { Issuer } from '../issuers/issuer.js';

class DiscoveryDto {
  @EnumField(['untried', 'ready', 'failed'], {
    description:
      'As the answering process knows it. `untried`: no one has signed in by the provider since it started.',
  })
  state: string;

  @TimeField({ nullable: true }) checked_at: string | null;
  @TextField({ nullable: true, description: 'Null: it did not fail.' }) problem: string | null;
}

export class SignInProviderDto {
  @TextField({ example: 'oidc' }) id: string;
  @TextField() name: string;
  @TextField({ example: 'https://id.example.com' }) issuer: string;
  @TextField() client_id: string;

  @TextField({ description: 'To be registered at the provider, exactly so.' })
  redirect_url: string;

  @TextField({ example: 'openid email profile' }) scopes: string;
  @TextField({ example: 'groups' }) groups_claim: string;
  @ListField(String, { description: 'Empty: any.' }) allowed_domains: string[];

  @EnumField(['none', 'viewer', 'developer'], { description: 'Of people without a role by groups.' })
  default_role: string;

  @ListField(String) owner_groups: string[];
  @IntegerField() session_minutes: number;
  @IntegerField() key_grace_days: number;
  @ObjectField(DiscoveryDto) discovery: DiscoveryDto;

  @ListField(String, {
    nullable: true,
    description:
      "Names of the claims of the reader's own last sign-in. Null: the reader signed in otherwise.",
  })
  claim_names: string[] | null;
}

/** `claimNames` null: the reader did not sign in by the issuer. */
export function toSignInProviderDto(
  { config, redirectUrl, state: { state, checkedAt, problem } }: Issuer,
  claimNames: readonly string[] | null,
): SignInProviderDto {
  return {
    id: config.id,
    name: config.name,
    issuer: config.issuer,
    client_id: config.clientId,
    redirect_url: redirectUrl,
    scopes: config.scopes,
    groups_claim: config.groupsClaim.join('.'),
    allowed_domains: [...config.allowedDomains],
    default_role: config.defaultRole ?? 'none',
    owner_groups: [...config.ownerGroups],
    session_minutes: config.sessionMinutes,
    key_grace_days: config.keyGraceDays,
    discovery: { state, checked_at: checkedAt?.toISOString() ?? null, problem },
    claim_names: claimNames && [...claimNames],
  };
}
