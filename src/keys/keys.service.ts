import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { createKeySecret, KEY_HASH, NEVER_USED, stateOf } from '../domain/keys/api-key.js';
import type { ApiKey, ApiKeySnapshot, ApiKeyState, Caller } from '../domain/keys/api-key.js';
import { ownerIn, reachesKey } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { PERSON_ID } from '../domain/people/person.js';
import { requireRight } from '../domain/people/rights.js';
import { isDescending } from '../domain/keys/key-list.js';
import { describeChange } from '../domain/audit.js';
import type { Actor } from '../domain/audit.js';
import { Clock } from '../domain/clock.js';
import { AppError, rejectMember } from '../domain/errors.js';
import { omitUndefined } from '../domain/members.js';
import { isStopped } from '../domain/spend/spend-limit.js';
import { NO_SPEND } from '../domain/spend/spend.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { ActivityRepository } from '../persistence/activity/activity.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { GuardrailUsageRepository } from '../persistence/guardrails/guardrail-usage.repository.js';
import { RefusalsRepository } from '../persistence/refusals/refusals.repository.js';
import { SpendPolicyRepository } from '../persistence/spend/spend-policy.repository.js';
import { UniqueViolation } from '../persistence/database/database-errors.js';
import { toKeySettings } from './dto/api-key.dto.js';
import type { CreateKeyDto, UpdateKeyDto } from './dto/key-bodies.dto.js';
import type { KeysQueryDto } from './dto/keys-query.dto.js';
import { AUDITED_KEY, quotasOfKeys, toLimit } from './key-settings.js';
import { OwnKeys, unbounded } from './own-keys.js';

const EXPIRED = 'expires_at: the key has expired, and no change revives it; create another key';

/** A key and its secret, which is shown only once. */
export interface KeyWithSecret {
  readonly state: ApiKeyState;
  readonly secret: string;
}

@Injectable()
export class KeysService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly policies: SpendPolicyRepository,
    private readonly activity: ActivityRepository,
    private readonly refusals: RefusalsRepository,
    private readonly guardrails: GuardrailUsageRepository,
    private readonly ownKeys: OwnKeys,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** A key that is not within reach answers like one that does not exist. */
  async get(manager: Manager, hash: string): Promise<ApiKeyState> {
    return this.toState(await this.find(manager, hash));
  }

  /** The caller's own key, which another request may delete after this one was authenticated. */
  async getOwn({ key }: Caller): Promise<ApiKeyState> {
    const found = await this.apiKeys.find(key.accountId, key.hash);
    if (!found) throw new AppError('invalid_credential');
    return this.toState(found);
  }

  /** A change of a key reads before it writes: nothing may fail after the key is changed. */
  private async find({ accountId, reach }: Manager, hash: string): Promise<ApiKeySnapshot> {
    const found = KEY_HASH.test(hash) ? await this.apiKeys.find(accountId, hash) : null;
    return found && reachesKey(reach, found.key) ? found : rejectUnknown();
  }

  /** The key as it is before a change: its workspace and its creator never change. */
  private async findToChange(actor: Actor, hash: string): Promise<ApiKeySnapshot> {
    const found = await this.find(actor, hash);
    // A management key is the account, whatever workspace its record names.
    if (found.key.kind === 'management') requireRight(actor, 'management_keys.change', null);
    return found;
  }

  private toState(snapshot: ApiKeySnapshot): ApiKeyState {
    return stateOf(snapshot, this.clock.now());
  }

  async list(manager: Manager, query: KeysQueryDto): Promise<readonly ApiKeyState[]> {
    const { accountId } = manager;
    const workspaceId = query.all_workspaces
      ? null
      : await this.accounts.chooseWorkspaceOfKeys(manager, query.workspace_id);
    const found = await this.apiKeys.list(manager, {
      workspaceId,
      includeDisabled: query.include_disabled,
      partOfName: query.q ?? '',
      order: query.sort,
      isDescending: isDescending(query.sort, query.direction),
      state: query.state ?? null,
      stoppedWorkspaceIds: query.state === 'stopped' ? await this.listStopped(accountId, workspaceId) : [],
      offset: query.offset,
      limit: query.limit,
    });
    const keys = found.map(({ key }) => key);
    const workspaceIds = [...new Set(keys.map((key) => key.workspaceId))];
    const [lastUses, refusals, sharedLimits, guardrailLimits] = await Promise.all([
      this.activity.findLastUse(keys),
      this.refusals.findOfKeys(keys),
      this.policies.findSharedLimitsOf(workspaceIds, this.clock.now()),
      this.guardrails.limitsOfKeys(keys),
    ]);
    return found.flatMap((one) => {
      const limits = sharedLimits.get(one.key.workspaceId);
      if (!limits) return [];
      const lastUse = lastUses.get(one.key.id) ?? NEVER_USED;
      const refused = refusals.get(one.key.id) ?? null;
      const ofGuardrails = guardrailLimits.get(one.key.id) ?? [];
      const known = { sharedLimits: limits, guardrailLimits: ofGuardrails, lastUse, refusals: refused };
      return [this.toState({ ...one, ...known })];
    });
  }

  /** The workspaces of a list whose budgets, or the account's credits, refuse every call. */
  private async listStopped(accountId: string, workspaceId: string | null): Promise<readonly string[]> {
    const now = this.clock.now();
    const ids = workspaceId === null ? await this.accounts.listWorkspaceIds(accountId) : [workspaceId];
    const limits = await this.policies.findSharedLimitsOf(ids, now);
    return [...limits].filter(([, shared]) => isStopped(shared, now)).map(([id]) => id);
  }

  async create(actor: Actor, dto: CreateKeyDto): Promise<KeyWithSecret> {
    const { accountId } = actor;
    rejectLimitOfManagement(dto);
    if (dto.is_management_key === true) rejectPeople(actor);
    const secret = createKeySecret();
    const workspaceId = await this.accounts.chooseWorkspace(actor, dto.workspace_id);
    const { quotas, ...members } = await this.permitted(actor, workspaceId, dto);
    const sharedLimits = await this.policies.findSharedLimits(workspaceId, this.clock.now());
    const created = await this.apiKeys
      .create(
        {
          accountId,
          workspaceId,
          kind: dto.is_management_key === true ? 'management' : 'inference',
          name: dto.name,
          disabled: dto.disabled ?? false,
          secret,
          ...members,
          embeddingCache: dto.embedding_cache ?? false,
          externalUser: dto.external?.user ?? null,
          partnerSecret: dto.external?.api_key ?? null,
        },
        describeChange(actor, AUDITED_KEY),
        [...quotasOfKeys(this.config.quotas, accountId, workspaceId), ...quotas],
      )
      .catch((error: unknown) => {
        if (!(error instanceof UniqueViolation)) throw error;
        throw new AppError('invalid_request', { detail: 'external.api_key: must be a key of its own' });
      });
    const state = this.toState({
      key: created,
      spend: NO_SPEND,
      sharedLimits,
      guardrailLimits: (await this.guardrails.limitsOfKeys([created])).get(created.id) ?? [],
      lastUse: NEVER_USED,
      refusals: null,
    });
    return { state, secret };
  }

  /** Developers make keys for themselves, within the policy of the workspace; others for any creator, or for none. */
  private async permitted(actor: Actor, workspaceId: string, dto: CreateKeyDto) {
    const wanted = {
      limit: dto.limit === undefined ? undefined : toLimit(dto.limit),
      limitReset: dto.limit_reset,
      includeByokInLimit: dto.include_byok_in_limit,
      expiresAt: dto.expires_at === null ? null : this.readExpiry(dto.expires_at, null),
    };
    const { person, reach } = actor;
    const creatorUserId = dto.creator_user_id ?? null;
    if (person !== null && ownerIn(reach, workspaceId) === person.id) {
      if (dto.creator_user_id !== undefined && creatorUserId !== person.id)
        throw new AppError('role_refused', { detail: 'creator_user_id: must be your own, or absent' });
      return this.ownKeys.bounded(person, workspaceId, wanted);
    }
    // A key that a person makes for a person ends with that one. An application needs a key without a creator.
    const endsWithCreator = person !== null && creatorUserId !== null && PERSON_ID.test(creatorUserId);
    return { ...unbounded(wanted), creatorUserId, endsWithCreator, quotas: [] };
  }

  /** A record that is sent back may have an expiry that is over. Undefined: no change. */
  private readExpiry(text: string | null | undefined, before: Date | null): Date | null | undefined {
    if (text === undefined) return undefined;
    const expiresAt = text === null ? null : new Date(text);
    if (expiresAt?.getTime() === before?.getTime()) return undefined;
    const now = this.clock.now();
    if (before !== null && before <= now) throw new AppError('invalid_request', { detail: EXPIRED });
    if (expiresAt === null || expiresAt > now) return expiresAt;
    throw new AppError('invalid_request', { detail: 'expires_at: must be in the future' });
  }

  async update(actor: Actor, hash: string, dto: UpdateKeyDto): Promise<ApiKeyState> {
    const before = await this.findToChange(actor, hash);
    rejectFixedChanges(dto, toKeySettings(before.key));
    const change = omitUndefined({
      name: dto.name,
      disabled: dto.disabled,
      limit: dto.limit === undefined ? undefined : toLimit(dto.limit),
      limitReset: dto.limit_reset,
      includeByokInLimit: dto.include_byok_in_limit,
      embeddingCache: dto.embedding_cache,
      expiresAt: this.readExpiry(dto.expires_at, before.key.expiresAt),
    });
    if (Object.keys(change).length === 0) return this.toState(before);
    if (isOwn(actor, before.key)) await this.ownKeys.requireBounded(before.key, change);
    const changed = await this.apiKeys.update(
      actor.accountId,
      hash,
      change,
      describeChange(actor, AUDITED_KEY),
    );
    return this.toState({ ...before, ...(changed ?? rejectUnknown()) });
  }

  /** The record, its hash and its spend stay; the old secrets remain valid for the grace period. */
  async rotate(actor: Actor, hash: string, graceSeconds: number): Promise<KeyWithSecret> {
    const before = await this.findToChange(actor, hash);
    const ofPerson = isOwn(actor, before.key);
    if (ofPerson) await this.ownKeys.requireAllowed(before.key);
    const secret = createKeySecret();
    const now = this.clock.now().getTime();
    const oldSecretsUntil = graceSeconds === 0 ? null : new Date(now + graceSeconds * 1000);
    const rotated = await this.apiKeys.rotate(
      actor.accountId,
      hash,
      // The person has its secret now.
      { secret, oldSecretsUntil, ...(ofPerson && { endsWithCreator: true }) },
      describeChange(actor, AUDITED_KEY, 'rotate'),
    );
    return { state: this.toState({ ...before, ...(rotated ?? rejectUnknown()) }), secret };
  }

  /** A key may delete itself: an operator can create a management key at the command line. */
  async delete(actor: Actor, hash: string): Promise<void> {
    await this.findToChange(actor, hash);
    if (!(await this.apiKeys.delete(actor.accountId, hash, describeChange(actor, AUDITED_KEY))))
      rejectUnknown();
  }
}

/** A management key makes no call that could reach a limit, and only its own secret may administrate. */
function rejectLimitOfManagement({ is_management_key: isManagement, limit, external }: CreateKeyDto): void {
  if (isManagement !== true) return;
  if (limit !== undefined && limit !== null) rejectMember('limit', 'is for keys that make calls; omit it');
  if (external !== undefined) rejectMember('external', 'is for keys that make calls; omit it');
}

/** Whether the manager reaches the key because he has created it. */
function isOwn({ reach }: Manager, { workspaceId }: ApiKey): boolean {
  return ownerIn(reach, workspaceId) !== null;
}

/** Its secret would be the whole account, without the bounds of a role. */
function rejectPeople({ person }: Actor): void {
  if (person !== null)
    throw new AppError('role_refused', { detail: 'is_management_key: people make no management keys' });
}

function rejectUnknown(): never {
  throw new AppError('not_found', { detail: 'no key has this hash' });
}
