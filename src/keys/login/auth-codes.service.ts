// A sign-in from a command line (docs/contract.md#sign-in-from-a-command-line), beyond the shape of its bodies.
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../../auth/rate-limiter.js';
import { AppConfig } from '../../config/app-config.js';
import { describeChange } from '../../domain/audit.js';
import type { Actor, ChangeOrigin } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError, rejectMember } from '../../domain/errors.js';
import { createKeySecret } from '../../domain/keys/api-key.js';
import {
  CODE_LIFE,
  createAuthCode,
  DEFAULT_KEY_DAYS,
  hashAuthCode,
  isVerified,
  MAX_KEY_LABEL,
} from '../../domain/keys/auth-code.js';
import type { AuthCode } from '../../domain/keys/auth-code.js';
import type { KeyTerms, WantedTerms } from '../../domain/keys/own-key-policy.js';
import { callbackProblem } from '../../domain/keys/callback-url.js';
import { managerByKey, managerByPerson } from '../../domain/people/manager.js';
import type { Manager } from '../../domain/people/manager.js';
import { PERSON_ID } from '../../domain/people/person.js';
import { reachOf } from '../../domain/people/rights.js';
import { boundedText } from '../../domain/text/bounded-text.js';
import { ApiKeysRepository } from '../../persistence/keys/api-keys.repository.js';
import { AuthCodesRepository } from '../../persistence/keys/auth-codes.repository.js';
import { LoginKeysRepository } from '../../persistence/keys/login-keys.repository.js';
import { PeopleRepository } from '../../persistence/people/people.repository.js';
import type { Quota } from '../../persistence/workspaces/quotas.js';
import { AccountsRepository } from '../../persistence/workspaces/accounts.repository.js';
import type { CreateAuthCodeDto, ExchangeAuthCodeDto } from '../dto/auth-code.dto.js';
import { AUDITED_KEY, quotasOfKeys, toLimit } from '../key-settings.js';
import { OwnKeys, unbounded } from '../own-keys.js';

const DAY = 86_400_000;
const DEFAULT_LABEL = 'Command line';

/** An own key of a person, or one of no person. */
interface PermittedKey extends KeyTerms {
  readonly creatorUserId: string | null;
  readonly endsWithCreator: boolean;
  readonly quotas: readonly Quota[];
}

@Injectable()
export class AuthCodesService {
  constructor(
    private readonly codes: AuthCodesRepository,
    private readonly loginKeys: LoginKeysRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly accounts: AccountsRepository,
    private readonly people: PeopleRepository,
    private readonly ownKeys: OwnKeys,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** `application`: the name of the program, where its headers have one. */
  async create(
    actor: Actor,
    dto: CreateAuthCodeDto,
    application: string | null,
  ): Promise<{ readonly code: string; readonly createdAt: Date }> {
    const problem = callbackProblem(dto.callback_url, this.config.authCallbackHosts);
    if (problem !== null) rejectMember('callback_url', problem);
    const { accountId } = actor;
    const now = this.clock.now();
    const workspaceId = await this.accounts.chooseWorkspace(actor, dto.workspace_id);
    const expiresAt = readExpiry(dto.expires_at, now);
    const { quotas: _quotas, ...key } = await this.permitted(actor, workspaceId, {
      limit: dto.limit === undefined ? undefined : toLimit(dto.limit),
      limitReset: dto.usage_limit_type,
      expiresAt,
    });
    const terms = {
      workspaceId,
      label: dto.key_label ?? labelOf(application),
      limit: key.limit,
      limitReset: key.limitReset,
      expiresAt:
        expiresAt === undefined && key.expiresAt === null
          ? new Date(now.getTime() + DEFAULT_KEY_DAYS * DAY)
          : key.expiresAt,
    };
    const code = createAuthCode();
    await this.codes.create(hashAuthCode(code), {
      accountId,
      maker: actor.key === null ? actor.person.id : actor.key.hash,
      terms,
      codeChallenge: dto.code_challenge,
      createdAt: now,
      expiresAt: new Date(now.getTime() + CODE_LIFE),
    });
    return { code, createdAt: now };
  }

  /** Unknown, used and expired codes, and a wrong verifier, have one text: it must not help to guess. */
  async exchange(
    { code: presented, code_verifier: verifier }: ExchangeAuthCodeDto,
    origin: ChangeOrigin,
  ): Promise<{ readonly secret: string; readonly userId: string | null }> {
    const code = await this.codes.take(hashAuthCode(presented));
    const isLive = code !== null && code.expiresAt > this.clock.now() && isVerified(code, verifier);
    const maker = isLive ? await this.findMaker(code) : null;
    if (!code || !maker) {
      await this.rateLimiter.countFailedAuthentication(origin.address);
      throw new AppError('code_refused');
    }
    const { workspaceId, label, ...wanted } = code.terms;
    const { quotas, ...terms } = await this.permitted(maker, workspaceId, wanted);
    const secret = createKeySecret();
    const actor = { ...maker, ...origin };
    const userId = maker.person?.id ?? null;
    const created = await this.loginKeys.createOrRotate(
      {
        maker: code.maker,
        key: {
          accountId: code.accountId,
          workspaceId,
          kind: 'inference',
          name: label,
          secret,
          ...terms,
        },
        quotas: [...quotasOfKeys(this.config.quotas, code.accountId, workspaceId), ...quotas],
      },
      {
        create: describeChange(actor, AUDITED_KEY),
        rotate: describeChange(actor, AUDITED_KEY, 'rotate'),
      },
    );
    if (!created) throw new AppError('code_refused', { detail: 'the key of this label is disabled' });
    return { secret, userId };
  }

  /**
   * Decides which key a maker may have: at the consent, and again when the program exchanges the code. A management key may have any of
   * its account, a person own keys.
   */
  private async permitted(maker: Manager, workspaceId: string, wanted: WantedTerms): Promise<PermittedKey> {
    if (maker.key === null) return this.ownKeys.bounded(maker.person, workspaceId, wanted);
    return { ...unbounded(wanted), creatorUserId: null, endsWithCreator: false, quotas: [] };
  }

  /** Null: the maker may no longer consent. */
  private async findMaker({ accountId, maker }: AuthCode): Promise<Manager | null> {
    const now = this.clock.now();
    if (!PERSON_ID.test(maker)) {
      const key = (await this.apiKeys.find(accountId, maker))?.key;
      const isOver = !key || key.disabled || (key.expiresAt !== null && key.expiresAt <= now);
      return isOver ? null : managerByKey(key);
    }
    const person = await this.people.find(maker);
    if (person?.accountId !== accountId || person.disabledAt !== null) return null;
    if (person.keysValidUntil !== null && person.keysValidUntil <= now) return null;
    const reach = reachOf(person, 'keys.change');
    return reach === null ? null : managerByPerson(person, reach);
  }
}

function labelOf(application: string | null): string {
  const name = boundedText(application?.trim() ?? '', MAX_KEY_LABEL);
  return name === '' || name.includes('\0') ? DEFAULT_LABEL : name;
}

/** Undefined: it is not named. */
function readExpiry(text: string | null | undefined, now: Date): Date | null | undefined {
  if (text === null || text === undefined) return text;
  const expiresAt = new Date(text);
  if (expiresAt <= now) rejectMember('expires_at', 'must be in the future');
  return expiresAt;
}
