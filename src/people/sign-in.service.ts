// Sign-in of people by their identity provider: from the button to the session.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { SignInProviderConfig } from '../config/sign-in-config.js';
import { describeChange } from '../domain/audit.js';
import type { ChangeOrigin } from '../domain/audit.js';
import { Clock } from '../domain/clock.js';
import type { AppError } from '../domain/errors.js';
import { isInDomains } from '../domain/people/claims.js';
import type { Identity } from '../domain/people/claims.js';
import { createSessionId, hashSessionId } from '../domain/people/console-session.js';
import type { PersonSession } from '../domain/people/console-session.js';
import { rolesByGroups } from '../domain/people/group-roles.js';
import type { GroupRoles, NewGroupMapping } from '../domain/people/group-roles.js';
import { managerByPerson } from '../domain/people/manager.js';
import type { Person } from '../domain/people/person.js';
import { Installation } from '../persistence/database/installation.js';
import { ConfigCipher } from '../persistence/encryption/config-cipher.js';
import { ConsoleSessionsRepository } from '../persistence/keys/console-sessions.repository.js';
import { SignInsRepository } from '../persistence/people/sign-ins.repository.js';
import { InvalidAnswer, IssuerRefused, IssuerUnavailable, reasonOf } from './issuers/issuer-errors.js';
import { newSignInChecks } from './issuers/issuer.js';
import type { Issuer } from './issuers/issuer.js';
import { PendingSignIns } from './pending-sign-in.js';
import { AUDITED_PERSON } from './people.service.js';
import { returnUrlOf } from './return-url.js';
import { SignInProviders } from './sign-in-providers.js';
import { SignInRefused } from './sign-in-refused.js';

const MINUTE = 60_000;

export interface BegunSignIn {
  /** The address of the issuer. */
  readonly location: string;
  readonly cookie: string;
}

export interface CompletedSignIn {
  /** The value of the session's cookie. */
  readonly sessionId: string;
  readonly returnUrl: string;
}

/** The request of the callback. */
export interface SignInAnswer {
  readonly query: URLSearchParams;
  readonly cookies: string | undefined;
  readonly origin: ChangeOrigin;
}

@Injectable()
export class SignInService {
  private readonly logger = new Logger('SignIn');
  private readonly pending: PendingSignIns;
  /** Of the service as browsers see it. Undefined: no provider is configured. */
  readonly publicOrigin: string | undefined;
  /** Null: no provider is configured. */
  private readonly publicUrl: string | null;
  private readonly publicPath: string;

  constructor(
    { signIn, publicPath }: AppConfig,
    private readonly providers: SignInProviders,
    private readonly signIns: SignInsRepository,
    private readonly sessions: ConsoleSessionsRepository,
    private readonly installation: Installation,
    private readonly clock: Clock,
    cipher: ConfigCipher,
  ) {
    this.publicOrigin = signIn?.publicOrigin;
    this.publicUrl = signIn?.publicUrl ?? null;
    this.publicPath = publicPath;
    this.pending = new PendingSignIns(signIn?.publicUrl ?? '', cipher, clock);
  }

  /** Throws SignInRefused. */
  async begin(issuer: Issuer, returnTo: unknown): Promise<BegunSignIn> {
    const checks = newSignInChecks();
    const returnUrl = returnUrlOf(returnTo, this.publicUrl ?? '');
    try {
      const location = await issuer.authorizationUrl(checks);
      const tag = await this.installation.tag();
      return {
        location,
        cookie: this.pending.seal({ ...checks, providerId: issuer.config.id, returnUrl }, tag),
      };
    } catch (error) {
      throw this.toRefusal(error, issuer);
    }
  }

  /** The sign-in page of the console, which leads back to the same page. */
  signInPage(returnTo: unknown): string {
    if (this.publicUrl === null) return `${this.publicPath}/sign-in`;
    const { pathname, search, hash } = new URL(returnUrlOf(returnTo, this.publicUrl));
    return `${this.publicUrl}/sign-in?from=${encodeURIComponent(pathname + search + hash)}`;
  }

  /** The `Set-Cookie` header that ends a sign-in, whatever comes of it. */
  async endedCookie(): Promise<string> {
    return this.pending.remove(await this.installation.tag());
  }

  /** Throws SignInRefused. */
  async complete(issuer: Issuer, { query, cookies, origin }: SignInAnswer): Promise<CompletedSignIn> {
    const begun = this.pending.open(cookies, await this.installation.tag());
    const isOfThis =
      begun !== null && begun.providerId === issuer.config.id && begun.state === query.get('state');
    if (!isOfThis) throw new SignInRefused('not_begun', 'the browser has not begun this sign-in');
    const identity = await issuer.identify(query, begun).catch((error: unknown) => {
      throw this.toRefusal(error, issuer);
    });
    const person = await this.admit(issuer, identity, origin);
    return { sessionId: await this.openSession(person, issuer.config), returnUrl: begun.returnUrl };
  }

  /** The page shows the request's id, and this line the reason. */
  logRefusal({ refusal, reason }: SignInRefused, requestId: string): void {
    this.logger.warn({ requestId, refusal }, `refused a sign-in: ${reason}`);
  }

  logFailure(error: AppError, requestId: string): void {
    if (error.status >= 500)
      this.logger.error({ requestId, error: error.cause ?? error }, 'failed to sign a person in');
  }

  private async admit(issuer: Issuer, identity: Identity, origin: ChangeOrigin): Promise<Person> {
    const { config } = issuer;
    if (!isInDomains(identity, config.allowedDomains))
      throw new SignInRefused('domain', 'no verified address in an allowed domain');
    const accountId = await this.providers.accountOf(issuer);
    if (accountId === null) {
      const reason = 'no account is named, and there is not exactly one; or the named one does not exist';
      this.logger.error({ provider: config.id }, `sign-in is not configured: ${reason}`);
      throw new SignInRefused('no_account', reason);
    }
    const person = await this.signIns.signIn({
      accountId,
      issuer: config.issuer,
      identity,
      keyGraceDays: config.keyGraceDays,
      decideRoles: (mappings) => decideRoles(identity, mappings, config),
      describe: (signedIn) =>
        describeChange(
          { ...managerByPerson(signedIn, { workspaceIds: null, own: null }), ...origin },
          AUDITED_PERSON,
        ),
    });
    if (person === null) throw new SignInRefused('disabled', 'the person is disabled');
    return person;
  }

  /** A new id always, so that no id from before the sign-in is ever signed in. */
  private async openSession(person: Person, { sessionMinutes }: SignInProviderConfig): Promise<string> {
    const id = createSessionId();
    const now = this.clock.now();
    const session: PersonSession = {
      idHash: hashSessionId(id),
      secretHash: null,
      personId: person.id,
      createdAt: now,
      lastSeenAt: now,
      endsAt: new Date(now.getTime() + sessionMinutes * MINUTE),
    };
    if (await this.sessions.createForPerson(person, session)) return id;
    throw new SignInRefused('disabled', 'the person was disabled at the same time');
  }

  /** Other failures are those of this service. */
  private toRefusal(error: unknown, { config }: Issuer): unknown {
    if (!(error instanceof Error)) return error;
    const reason = reasonOf(error);
    if (error instanceof IssuerUnavailable) {
      this.logger.warn({ provider: config.id }, `failed to reach the issuer: ${reason}`);
      return new SignInRefused('unavailable', reason);
    }
    if (error instanceof IssuerRefused) return new SignInRefused('refused', reason, error.code);
    if (error instanceof InvalidAnswer) return new SignInRefused('invalid', reason);
    return error;
  }
}

/** Throws SignInRefused where roles depend on groups that the answer does not state: they are neither dropped nor kept. */
function decideRoles(
  { groups }: Identity,
  mappings: readonly NewGroupMapping[],
  { ownerGroups, defaultRole, groupsClaim }: SignInProviderConfig,
): GroupRoles {
  const needsGroups = mappings.length > 0 || ownerGroups.length > 0;
  const names = groupsClaim.join('.');
  if (needsGroups && groups.state === 'missing')
    throw new SignInRefused('groups_missing', 'the answer has no groups claim', names);
  if (needsGroups && groups.state === 'overage')
    throw new SignInRefused('groups_overage', 'the issuer left the groups out', names);
  const known = groups.state === 'known' ? groups.groups : [];
  return rolesByGroups(known, { mappings, ownerGroups, defaultRole });
}
