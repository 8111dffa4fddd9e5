// The operations of federation policies, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { rejectMember } from '../domain/errors.js';
import { noSuchPolicy } from '../domain/federation/federation-policy.js';
import type { FederationPolicy, PolicyKey, PolicySettings } from '../domain/federation/federation-policy.js';
import { readPolicyKeys } from '../domain/federation/public-keys.js';
import type { Page, PageRequest } from '../domain/page.js';
import { UrlGuard } from '../outbound/connections/url-guard.js';
import { FederationPoliciesRepository } from '../persistence/federation/federation-policies.repository.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { toFederationPolicyDto } from './dto/federation-policy.dto.js';
import type { CreateFederationPolicyDto, UpdateFederationPolicyDto } from './dto/federation-policy.dto.js';

const AUDITED_POLICY: AuditedType<FederationPolicy> = {
  objectType: 'federation_policy',
  objectId: ({ id }) => id,
  workspaceId: ({ key }) => key.workspaceId,
  state: toFederationPolicyDto,
};

type IssuerKeys = Pick<PolicySettings, 'jwks' | 'jwksUrl'>;

@Injectable()
export class FederationPoliciesService {
  constructor(
    private readonly policies: FederationPoliciesRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly urlGuard: UrlGuard,
  ) {}

  async list(accountId: string, page: PageRequest): Promise<Page<FederationPolicy>> {
    return this.policies.list(accountId, page);
  }

  /** Another account's policy answers like one that does not exist. */
  async get(accountId: string, id: string): Promise<FederationPolicy> {
    const found = isUUID(id) ? await this.policies.find(accountId, id.toLowerCase()) : null;
    if (!found) throw noSuchPolicy();
    return found;
  }

  async create(actor: Actor, dto: CreateFederationPolicyDto): Promise<FederationPolicy> {
    const { accountId } = actor;
    const key = await this.findKey(accountId, dto.api_key_hash);
    const keys = keysAfter({ jwks: null, jwksUrl: null }, dto);
    await this.rejectForbiddenAddress(accountId, dto.jwks_url);
    const settings = {
      name: dto.name,
      issuer: dto.issuer,
      audience: dto.audience,
      subject: dto.subject,
      claims: dto.claims ?? {},
      maxTtlSeconds: dto.max_ttl_seconds,
      enabled: dto.enabled ?? true,
      ...keys,
    };
    return this.policies.create(accountId, { ...settings, key }, describeChange(actor, AUDITED_POLICY));
  }

  async update(actor: Actor, id: string, dto: UpdateFederationPolicyDto): Promise<FederationPolicy> {
    const { accountId } = actor;
    const known = await this.get(accountId, id);
    const key =
      dto.api_key_hash === undefined || dto.api_key_hash === known.key.hash
        ? null
        : await this.findKey(accountId, dto.api_key_hash);
    if (dto.jwks_url !== known.jwksUrl) await this.rejectForbiddenAddress(accountId, dto.jwks_url);
    const change = (before: FederationPolicy) => ({
      name: dto.name ?? before.name,
      issuer: dto.issuer ?? before.issuer,
      audience: dto.audience ?? before.audience,
      subject: dto.subject ?? before.subject,
      claims: dto.claims ?? before.claims,
      maxTtlSeconds: dto.max_ttl_seconds ?? before.maxTtlSeconds,
      enabled: dto.enabled ?? before.enabled,
      ...keysAfter(before, dto),
      key: key ?? before.key,
    });
    const describe = describeChange(actor, AUDITED_POLICY);
    const changed = await this.policies.change(accountId, known.id, change, describe);
    if (!changed) throw noSuchPolicy();
    return changed;
  }

  async delete(actor: Actor, id: string): Promise<void> {
    const { accountId } = actor;
    const describe = describeChange(actor, AUDITED_POLICY);
    const wasThere = isUUID(id) && (await this.policies.delete(accountId, id.toLowerCase(), describe));
    if (!wasThere) throw noSuchPolicy();
  }

  private async findKey(accountId: string, hash: string): Promise<PolicyKey> {
    const found = await this.apiKeys.find(accountId, hash);
    if (!found) rejectMember('api_key_hash', 'no key has this hash');
    const { kind, workspaceId, id, hash: recordHash } = found.key;
    if (kind !== 'inference') rejectMember('api_key_hash', 'must be the hash of an inference key');
    return { workspaceId, id, hash: recordHash };
  }

  /** Every connection is checked again: the name may lead elsewhere later. */
  private async rejectForbiddenAddress(accountId: string, url: string | null | undefined): Promise<void> {
    const problem = typeof url === 'string' ? await this.urlGuard.check(url, accountId) : null;
    if (problem !== null) rejectMember('jwks_url', problem);
  }
}

/** A policy has keys or their address: the one that is sent replaces the other. */
function keysAfter(
  before: IssuerKeys,
  { jwks, jwks_url: jwksUrl }: Pick<UpdateFederationPolicyDto, 'jwks' | 'jwks_url'>,
): IssuerKeys {
  const isSent = (value: unknown): boolean => value !== undefined && value !== null;
  if (isSent(jwks) && isSent(jwksUrl)) rejectMember('jwks', 'must be omitted beside jwks_url');
  if (isSent(jwksUrl)) return { jwks: null, jwksUrl: jwksUrl ?? null };
  const read = isSent(jwks) ? readPolicyKeys(jwks) : null;
  // The DTO has rejected other values.
  if (typeof read === 'string') rejectMember('jwks', read);
  if (read) return { jwks: read, jwksUrl: null };
  const after = {
    jwks: jwks === null ? null : before.jwks,
    jwksUrl: jwksUrl === null ? null : before.jwksUrl,
  };
  if (after.jwks === null && after.jwksUrl === null)
    rejectMember('jwks_url', 'is required, unless jwks has the keys of the issuer');
  return after;
}
