// People of an account and their roles.
import { Injectable } from '@nestjs/common';
import type { SignInProviderConfig } from '../config/sign-in-config.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError, rejectMember } from '../domain/errors.js';
import type { Page, PageRequest } from '../domain/page.js';
import type { Manager } from '../domain/people/manager.js';
import { ACCOUNT_ROLES, endOfGrace, hasRole, PERSON_ID } from '../domain/people/person.js';
import type { AccountRole, Person } from '../domain/people/person.js';
import { PeopleRepository } from '../persistence/people/people.repository.js';
import type { PersonChange } from '../persistence/people/people.repository.js';
import { toOrganizationMemberDto } from './dto/person.dto.js';
import type { UpdateOrganizationMemberDto } from './dto/person.dto.js';
import { SignInProviders } from './sign-in-providers.js';

export const AUDITED_PERSON: AuditedType<Person> = {
  objectType: 'person',
  objectId: ({ id }) => id,
  workspaceId: () => null,
  state: toOrganizationMemberDto,
};

@Injectable()
export class PeopleService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly providers: SignInProviders,
  ) {}

  async list({ accountId }: Manager, page: PageRequest): Promise<Page<Person>> {
    return this.people.list(accountId, page);
  }

  /** Another account's person answers like one that does not exist. */
  async update(actor: Actor, id: string, dto: UpdateOrganizationMemberDto): Promise<Person> {
    const { account_role: handRole, disabled: isDisabled } = dto;
    if (handRole === undefined && isDisabled === undefined)
      throw new AppError('invalid_request', {
        detail: 'account_role or disabled: name at least one of them',
      });
    const issuers = handRole ? await this.providers.ofAccount(actor.accountId) : [];
    const decide = (before: Person): PersonChange => {
      rejectBeyondOwnRole(actor, before, handRole ?? null);
      const provider = issuers.find(({ config }) => config.issuer === before.issuer);
      return {
        ...(handRole !== undefined && { handRole }),
        ...(isDisabled !== undefined && { isDisabled }),
        ...(provider && keysOf(before, provider.config)),
      };
    };
    const changed = PERSON_ID.test(id)
      ? await this.people.change(actor.accountId, id, decide, describeChange(actor, AUDITED_PERSON))
      : null;
    if (!changed) throw new AppError('not_found', { detail: 'no person has this id' });
    return changed;
  }
}

/** Keys that ended with the last role work again, as long as a sign-in with a role would have let them. */
function keysOf(before: Person, { keyGraceDays }: Pick<SignInProviderConfig, 'keyGraceDays'>): PersonChange {
  const { lastSignInAt } = before;
  if (hasRole(before) || lastSignInAt === null) return {};
  return { keysValidUntil: endOfGrace(lastSignInAt, keyGraceDays) };
}

/** A person changes neither the own role nor one above it, and gives none above it. A management key is the account. */
function rejectBeyondOwnRole({ person }: Actor, subject: Person, given: AccountRole | null): void {
  if (person === null) return;
  if (person.id === subject.id)
    throw new AppError('role_refused', { detail: 'another person changes your role' });
  rejectAboveOwnRole(person, [subject.accountRole, given]);
}

/** Throws `role_refused` when the person's role is below one of them. */
export function rejectAboveOwnRole(person: Person, roles: readonly (AccountRole | null)[]): void {
  const isAbove = (role: AccountRole | null): boolean =>
    role !== null &&
    (person.accountRole === null || ACCOUNT_ROLES.indexOf(role) < ACCOUNT_ROLES.indexOf(person.accountRole));
  const above = roles.find(isAbove);
  if (above) throw new AppError('role_refused', { detail: `it needs the role ${above}` });
}

/** As the field at fault names it. */
export function rejectRole(): never {
  return rejectMember(
    'role',
    'must be owner, admin, developer or viewer of the account, or admin, member or viewer of a workspace',
  );
}
