// Signs in to the console with a key, and out again.
import { Injectable } from '@nestjs/common';
import { CallerCache, SessionCallers } from '../auth/caller-cache.js';
import { RateLimiter } from '../auth/rate-limiter.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { ApiKey, Caller } from '../domain/keys/api-key.js';
import { createSessionId, endOfKeySession, hashSessionId } from '../domain/people/console-session.js';
import type { KeySession, SessionCaller, SessionPerson } from '../domain/people/console-session.js';
import { Installation } from '../persistence/database/installation.js';
import { ConsoleSessionsRepository } from '../persistence/keys/console-sessions.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { SignInProviders } from '../people/sign-in-providers.js';
import { toKeySessionDto, toPersonSessionDto } from './dto/session.dto.js';
import type { KeySessionDto, PersonSessionDto } from './dto/session.dto.js';

interface NewSession {
  /** The value of the cookie. */
  readonly id: string;
  readonly shown: KeySessionDto;
}

@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: ConsoleSessionsRepository,
    private readonly callers: CallerCache,
    private readonly sessionCallers: SessionCallers,
    private readonly providers: SignInProviders,
    private readonly accounts: AccountsRepository,
    private readonly rateLimiter: RateLimiter,
    private readonly installation: Installation,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Part of the cookie's name: browsers send cookies to every port of a host. */
  tag(): Promise<string> {
    return this.installation.tag();
  }

  /** Every sign-in makes an id of its own, so that no id from before it is ever signed in. */
  async signIn(secret: string, address: string): Promise<NewSession> {
    const secretHash = hashKeySecret(secret.trim());
    const now = this.clock.now();
    const caller = await this.callers.find(secretHash);
    const id = createSessionId();
    const session: KeySession = {
      idHash: hashSessionId(id),
      secretHash,
      personId: null,
      createdAt: now,
      lastSeenAt: now,
      endsAt: endOfKeySession(now),
    };
    // An access token lives for minutes, and makes calls alone.
    const maySignIn = caller && isUsableAt(caller, now) && caller.federationPolicyId === undefined;
    if (!maySignIn || !(await this.sessions.create(caller.key, session))) {
      await this.rateLimiter.countFailedAuthentication(address);
      throw new AppError('invalid_credential');
    }
    return { id, shown: await this.show(caller.key, session) };
  }

  async describe(caller: Caller | SessionCaller): Promise<KeySessionDto> {
    if (!('session' in caller)) throw new AppError('missing_credential', { detail: 'there is no session' });
    return this.show(caller.key, caller.session);
  }

  async describePerson(found: SessionPerson): Promise<PersonSessionDto> {
    const { accountId, issuer, accountRole, workspaceRoles } = found.person;
    const [names, provider] = await Promise.all([
      this.accounts.findPlace(accountId, accountRole === null ? [...workspaceRoles.keys()] : null),
      this.providers.findByIssuer(issuer, accountId),
    ]);
    const isOperator = this.config.operatorAccounts.includes(accountId);
    return toPersonSessionDto(found, names, { isOperator, providerId: provider?.config.id ?? null });
  }

  async end(id: string): Promise<void> {
    await this.sessions.end(hashSessionId(id));
  }

  /** Resolves with the address that ends a person's session at the issuer; undefined: the session was none of a person. */
  async signOut(id: string): Promise<string | null | undefined> {
    const found = await this.sessionCallers.find(id);
    await this.end(id);
    if (found === null || !('person' in found)) return undefined;
    const { issuer, accountId } = found.person;
    const provider = await this.providers.findByIssuer(issuer, accountId);
    return (await provider?.endSessionUrl()) ?? null;
  }

  private async show(key: ApiKey, session: KeySession): Promise<KeySessionDto> {
    const names = await this.accounts.findNames({ accountId: key.accountId, id: key.workspaceId });
    const isOperator = this.config.operatorAccounts.includes(key.accountId);
    return toKeySessionDto(key, session, { names, isOperator });
  }
}
