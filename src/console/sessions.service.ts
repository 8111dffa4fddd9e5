// Signs in to the console with a key, and out again.
import { Injectable } from '@nestjs/common';
import { CallerCache } from '../auth/caller-cache.js';
import { RateLimiter } from '../auth/rate-limiter.js';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { hashKeySecret, isUsableAt } from '../domain/keys/api-key.js';
import type { ApiKey, Caller } from '../domain/keys/api-key.js';
import { createSessionId, endOfKeySession, hashSessionId } from '../domain/people/console-session.js';
import type { ConsoleSession, KeySession, SessionCaller } from '../domain/people/console-session.js';
import { Installation } from '../persistence/database/installation.js';
import { ConsoleSessionsRepository } from '../persistence/keys/console-sessions.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { toSessionDto } from './dto/session.dto.js';
import type { SessionDto } from './dto/session.dto.js';

interface NewSession {
  /** The value of the cookie. */
  readonly id: string;
  readonly shown: SessionDto;
}

@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: ConsoleSessionsRepository,
    private readonly callers: CallerCache,
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

  async describe(caller: Caller | SessionCaller): Promise<SessionDto> {
    if (!('session' in caller)) throw new AppError('missing_credential', { detail: 'there is no session' });
    return this.show(caller.key, caller.session);
  }

  async signOut(id: string): Promise<void> {
    await this.sessions.end(hashSessionId(id));
  }

  private async show(key: ApiKey, session: ConsoleSession): Promise<SessionDto> {
    const names = await this.accounts.findNames({ accountId: key.accountId, id: key.workspaceId });
    const isOperator = this.config.operatorAccounts.includes(key.accountId);
    return toSessionDto(key, session, { names, isOperator });
  }
}
