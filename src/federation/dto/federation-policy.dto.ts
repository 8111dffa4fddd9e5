// A federation policy on the wire, and the bodies of its operations. Contract: docs/contract.md#workload-identity.
import { MAX_CLAIMS, subjectProblem, TOKEN_SECONDS } from '../../domain/federation/federation-policy.js';
import type { FederationPolicy } from '../../domain/federation/federation-policy.js';
import { readPolicyKeys } from '../../domain/federation/public-keys.js';
import { KEY_HASH } from '../../domain/keys/api-key.js';
import { isStorableText } from '../../domain/text/storable-text.js';
import { FreeObjectField } from '../../http/fields/compound-fields.js';
import { Rule } from '../../http/fields/field.js';
import type { FieldOptions } from '../../http/fields/field.js';
import { TakesRecord } from '../../http/fields/record-members.js';
import {
  FlagField,
  FormattedField,
  IntegerField,
  TextField,
  TimeField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

const MAX_NAME = 1_000;
const MAX_TEXT = 2_048;
const NAME = { minLength: 1, maxLength: MAX_NAME, example: 'Deployments of the web shop' };
const ISSUER = {
  minLength: 1,
  maxLength: MAX_TEXT,
  example: 'https://token.actions.githubusercontent.com',
  description: 'The `iss` of the tokens, exactly.',
};
const AUDIENCE = {
  minLength: 1,
  maxLength: MAX_TEXT,
  example: 'https://signalbox.example.com',
  description: 'A value that the `aud` of the tokens must have, exactly.',
};
const SUBJECT = {
  minLength: 1,
  maxLength: MAX_TEXT,
  example: 'repo:acme/shop:ref:refs/heads/main',
  description:
    'The `sub` of the tokens, exactly. A `*` at the end, after `:` or `/` and at least 8 characters, stands for the rest.',
};
const TTL = {
  minimum: TOKEN_SECONDS.least,
  maximum: TOKEN_SECONDS.most,
  description:
    'Seconds that an access token lives at most. It never outlives the token that it is exchanged for.',
};

/** Texts, numbers and flags by name. */
const CLAIM_VALUES = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
const CLAIMS_DESCRIPTION = 'Further claims that the tokens must have, each with this value.';
const JWKS_DESCRIPTION = "The issuer's public keys (RFC 7517), each with a `kid`.";
const JWKS_URL_DESCRIPTION = "The address of the issuer's public keys. They are read again every 5 minutes.";

export class FederationPolicyDto {
  @UuidField() id: string;
  @UuidField({ description: 'The workspace of the key.' }) workspace_id: string;
  @TextField({ example: NAME.example }) name: string;
  @TextField({ example: ISSUER.example, description: ISSUER.description }) issuer: string;
  @TextField({ example: AUDIENCE.example, description: AUDIENCE.description }) audience: string;
  @TextField({ example: SUBJECT.example, description: SUBJECT.description }) subject: string;
  @FreeObjectField({ members: CLAIM_VALUES, description: CLAIMS_DESCRIPTION })
  claims: object;
  @TextField({ description: 'The hash of the key whose calls the access tokens make.' }) api_key_hash: string;
  @IntegerField({ description: TTL.description }) max_ttl_seconds: number;
  @FreeObjectField({ nullable: true, description: `${JWKS_DESCRIPTION} Null: \`jwks_url\` has them.` })
  jwks: object | null;
  @TextField({ nullable: true, description: JWKS_URL_DESCRIPTION }) jwks_url: string | null;
  @FlagField({ description: 'False: no token is exchanged.' }) enabled: boolean;
  @TimeField() created_at: string;
  @TimeField({ nullable: true, description: 'Null until the first change.' }) updated_at: string | null;
}

export function toFederationPolicyDto(policy: FederationPolicy): FederationPolicyDto {
  return {
    id: policy.id,
    workspace_id: policy.key.workspaceId,
    name: policy.name,
    issuer: policy.issuer,
    audience: policy.audience,
    subject: policy.subject,
    claims: policy.claims,
    api_key_hash: policy.key.hash,
    max_ttl_seconds: policy.maxTtlSeconds,
    jwks: policy.jwks,
    jwks_url: policy.jwksUrl,
    enabled: policy.enabled,
    created_at: policy.createdAt.toISOString(),
    updated_at: policy.updatedAt?.toISOString() ?? null,
  };
}

const isSubject = Rule(
  'isSubject',
  (value) => typeof value === 'string' && subjectProblem(value) === null,
  (value) => (typeof value === 'string' && subjectProblem(value)) || 'must be a string',
);

const isClaims = Rule(
  'isClaims',
  (value) => claimsProblem(value) === null,
  (value) => claimsProblem(value) ?? '',
);

const MAX_CLAIM_NAME = 200;

function claimsProblem(value: unknown): string | null {
  const claims = Object.entries(value ?? {}) as [string, unknown][];
  if (claims.length > MAX_CLAIMS) return `must have at most ${MAX_CLAIMS} members`;
  const isBounded = claims.every(([name, claim]) => {
    const isValue = ['string', 'number', 'boolean'].includes(typeof claim);
    const isShort = name.length <= MAX_CLAIM_NAME && String(claim).length <= MAX_TEXT;
    return isValue && isShort && isStorableText(name) && isStorableText(String(claim));
  });
  return isBounded
    ? null
    : `must have texts, numbers or booleans of at most ${MAX_TEXT} characters, with names of at most ${MAX_CLAIM_NAME}`;
}

const areKeys = Rule(
  'areKeys',
  (value) => typeof readPolicyKeys(value) !== 'string',
  (value) => {
    const read = readPolicyKeys(value);
    return typeof read === 'string' ? read : '';
  },
);

const HashField = (options: Pick<FieldOptions, 'optional'> = {}): PropertyDecorator =>
  FormattedField({
    ...options,
    pattern: KEY_HASH,
    message: 'must be 64 lower-case hexadecimal digits',
    description: 'The hash of an inference key. The access tokens make its calls, under its limits.',
  });

abstract class PolicyOptionsDto {
  @FreeObjectField({
    optional: true,
    members: CLAIM_VALUES,
    rules: [isClaims],
    description: CLAIMS_DESCRIPTION,
    example: { repository_visibility: 'private' },
  })
  claims?: Readonly<Record<string, string | number | boolean>>;

  @FreeObjectField({
    optional: true,
    nullable: true,
    rules: [areKeys],
    description: `${JWKS_DESCRIPTION} For issuers that this service cannot reach. Replaces \`jwks_url\`.`,
  })
  jwks?: object | null;

  @TextField({
    optional: true,
    nullable: true,
    minLength: 1,
    maxLength: MAX_TEXT,
    description: `${JWKS_URL_DESCRIPTION} Replaces \`jwks\`.`,
    example: 'https://token.actions.githubusercontent.com/.well-known/jwks',
  })
  jwks_url?: string | null;

  @FlagField({ optional: true, description: 'False: no token is exchanged. A new policy has true.' })
  enabled?: boolean;
}

@TakesRecord(FederationPolicyDto)
export class CreateFederationPolicyDto extends PolicyOptionsDto {
  @TextField(NAME) name: string;
  @TextField(ISSUER) issuer: string;
  @TextField(AUDIENCE) audience: string;
  @TextField({ ...SUBJECT, rules: [isSubject] }) subject: string;
  @HashField() api_key_hash: string;
  @IntegerField({ ...TTL, default: TOKEN_SECONDS.most }) max_ttl_seconds: number = TOKEN_SECONDS.most;
}

@TakesRecord(FederationPolicyDto)
export class UpdateFederationPolicyDto extends PolicyOptionsDto {
  @TextField({ ...NAME, optional: true }) name?: string;
  @TextField({ ...ISSUER, optional: true }) issuer?: string;
  @TextField({ ...AUDIENCE, optional: true }) audience?: string;
  @TextField({ ...SUBJECT, optional: true, rules: [isSubject] }) subject?: string;
  @HashField({ optional: true }) api_key_hash?: string;
  @IntegerField({ ...TTL, optional: true }) max_ttl_seconds?: number;
}
