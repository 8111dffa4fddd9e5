// The keys that people make for themselves: which ones a person may have (docs/contract.md#own-keys).
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import type { ApiKey, ApiKeyChange } from '../domain/keys/api-key.js';
import { boundedTerms } from '../domain/keys/own-key-policy.js';
import type { KeyTerms, WantedTerms } from '../domain/keys/own-key-policy.js';
import { ownerIn, reachesWorkspace, userOfManager } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import type { Person } from '../domain/people/person.js';
import { reachOf, roleRefused } from '../domain/people/rights.js';
import { guardrailLimitOf } from '../domain/spend/spend-limit.js';
import { GuardrailUsageRepository } from '../persistence/guardrails/guardrail-usage.repository.js';
import { OwnKeyPoliciesRepository } from '../persistence/keys/own-key-policies.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import type { OwnKeyQuota } from '../persistence/workspaces/quotas.js';
import type { OwnMember } from './dto/own-member.dto.js';

/** A key of a person as it may be made: the members of a new key, and the quotas that its creation needs. */
export interface OwnKey extends KeyTerms {
  readonly creatorUserId: string;
  readonly endsWithCreator: true;
  readonly quotas: readonly OwnKeyQuota[];
}

/** Changes that raise nothing: they need no policy. */
const HARMLESS: ReadonlySet<string> = new Set(['name', 'embeddingCache']);

@Injectable()
export class OwnKeys {
  constructor(
    private readonly policies: OwnKeyPoliciesRepository,
    private readonly accounts: AccountsRepository,
    private readonly guardrails: GuardrailUsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * The key that the person may make for himself in the workspace, by his role as it is now. The workspace's policy bounds
   * developers. Throws `role_refused` and `own_key_refused`.
   */
  async bounded(
    person: Pick<Person, 'id' | 'accountRole' | 'workspaceRoles'>,
    workspaceId: string,
    wanted: WantedTerms,
  ): Promise<OwnKey> {
    const reach = reachOf(person, 'keys.change');
    const ofPerson = { creatorUserId: person.id, endsWithCreator: true } as const;
    if (reach !== null && reachesWorkspace(reach, workspaceId))
      return { ...unbounded(wanted), ...ofPerson, quotas: [] };
    if (reach === null || ownerIn(reach, workspaceId) === null) throw roleRefused('keys.change');
    const policy = await this.policies.find(workspaceId);
    const now = this.clock.now();
    const terms = boundedTerms(policy, wanted, now);
    const { maxKeys: limit } = policy;
    const quota = {
      resource: 'own_keys',
      owner: 'person',
      ownerId: person.id,
      workspaceId,
      limit,
      now,
    } as const;
    return { ...terms, ...ofPerson, quotas: [quota] };
  }

  /** The keys and the budget of the manager in a workspace. */
  async describe(manager: Manager, wanted: string | undefined): Promise<OwnMember> {
    const workspaceId = await this.accounts.chooseWorkspace(manager, wanted);
    const userId = userOfManager(manager);
    if (userId === null) return { userId, workspaceId, keys: 0, budget: null };
    const [keys, limit] = await Promise.all([
      this.policies.countKeys(workspaceId, userId),
      this.guardrails.limitOfMember(workspaceId, userId),
    ]);
    const budget = limit && { ...limit, limit: guardrailLimitOf(limit.limit, this.clock.now()) };
    return { userId, workspaceId, keys, budget };
  }

  /** Throws `own_key_refused` when the policy does not allow the key as it is after the change. */
  async requireBounded(key: ApiKey, change: ApiKeyChange): Promise<void> {
    const names = Object.keys(change).filter((name) => !HARMLESS.has(name));
    const onlyDisables = names.every((name) => name === 'disabled') && change.disabled !== false;
    if (onlyDisables) return;
    await this.requireAllowed({ ...key, ...change });
  }

  /** Throws `own_key_refused` when the policy does not allow the key as it is. */
  async requireAllowed({
    limit,
    limitReset,
    includeByokInLimit,
    expiresAt,
    workspaceId,
  }: ApiKey): Promise<void> {
    const policy = await this.policies.find(workspaceId);
    boundedTerms(policy, { limit, limitReset, includeByokInLimit, expiresAt }, this.clock.now());
  }
}

export function unbounded({ limit, limitReset, includeByokInLimit, expiresAt }: WantedTerms): KeyTerms {
  return {
    limit: limit ?? null,
    limitReset: limitReset ?? null,
    includeByokInLimit: includeByokInLimit ?? false,
    expiresAt: expiresAt ?? null,
  };
}
