// Callers by the secret of a key, people, and sessions of the console: cached until a notification evicts them.
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { isUsableAt } from '../domain/keys/api-key.js';
import type { Caller } from '../domain/keys/api-key.js';
import { hashSessionId, isSessionLive, isSightingDue } from '../domain/people/console-session.js';
import type { ConsoleSession, SessionCaller, SessionPerson } from '../domain/people/console-session.js';
import type { Person } from '../domain/people/person.js';
import { Notifications } from '../persistence/database/notifications.js';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';
import { ConsoleSessionsRepository } from '../persistence/keys/console-sessions.repository.js';
import { PeopleRepository } from '../persistence/people/people.repository.js';

/**
 * By the hash of their secret, so that the request path queries the database once per key and change. The cache is keyed
 * by digests: the time of a look-up reveals nothing about a secret.
 */
@Injectable()
export class CallerCache extends NotifiedCache<Caller> {
  constructor(apiKeys: ApiKeysRepository, notifications: Notifications) {
    super(notifications, { channel: 'api_key_changed', max: 20_000 }, (secretHash) =>
      apiKeys.findCaller(secretHash),
    );
  }
}

/** By their id. Roles are in force with the notification of their change. */
@Injectable()
export class PeopleCache extends NotifiedCache<Person> {
  constructor(people: PeopleRepository, notifications: Notifications) {
    super(notifications, { channel: 'person_changed', max: 10_000 }, (id) => people.find(id));
  }
}

/** A session is cached like a caller. It ends with its caller or person as well. */
@Injectable()
export class SessionCallers {
  private readonly logger = new Logger(SessionCallers.name);
  private readonly cache: NotifiedCache<CachedSession>;

  constructor(
    private readonly sessions: ConsoleSessionsRepository,
    private readonly callers: CallerCache,
    private readonly people: PeopleCache,
    private readonly clock: Clock,
    notifications: Notifications,
  ) {
    this.cache = new NotifiedCache(
      notifications,
      { channel: 'console_session_ended', max: 1_000 },
      async (idHash) => {
        const session = await this.sessions.find(idHash);
        return session && { ...session };
      },
    );
  }

  /** Null: no live session has the id, its secret is no longer valid, or its person is disabled. */
  async find(id: string): Promise<SessionCaller | SessionPerson | null> {
    const idHash = hashSessionId(id);
    const session = await this.cache.find(idHash);
    const now = this.clock.now();
    if (!session || !isSessionLive(session, now)) return null;
    const found = await this.findAuthenticated(session, now);
    if (found) this.record(session, now);
    return found;
  }

  private async findAuthenticated(
    session: CachedSession,
    now: Date,
  ): Promise<SessionCaller | SessionPerson | null> {
    if (session.personId !== null) {
      const person: Person | null = await this.people.find(session.personId);
      return person?.disabledAt === null ? { person, session } : null;
    }
    const caller: Caller | null = await this.callers.find(session.secretHash);
    return caller && isUsableAt(caller, now) ? { ...caller, session } : null;
  }

  /** Does not wait: a lost record ends an idle session a minute too early at most. */
  private record(session: CachedSession, now: Date): void {
    if (!isSightingDue(session, now)) return;
    session.lastSeenAt = now;
    this.sessions
      .recordSighting(session.idHash, now)
      .catch((error: unknown) => this.logger.warn({ error }, 'failed to record the use of a session'));
  }
}

/** A session as this process last saw it; other processes read the database once a minute. */
type CachedSession = ConsoleSession & { lastSeenAt: Date };
