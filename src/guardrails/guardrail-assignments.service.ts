// The operations of assignments, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import type { AssignmentSubject, GuardrailAssignment } from '../domain/guardrails/guardrail.js';
import type { Manager } from '../domain/people/manager.js';
import type { Page, PageRequest } from '../domain/page.js';
import { GuardrailAssignmentsRepository } from '../persistence/guardrails/guardrail-assignments.repository.js';
import type { NamedSubjects } from '../persistence/guardrails/guardrail-assignments.repository.js';
import { toAssignmentDto } from './dto/guardrail-assignment.dto.js';
import { GuardrailsService } from './guardrails.service.js';

const AUDITED_ASSIGNMENT: AuditedType<GuardrailAssignment> = {
  objectType: 'guardrail_assignment',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toAssignmentDto,
};

type OfSubject<Subject extends AssignmentSubject> = Extract<
  GuardrailAssignment,
  { readonly subject: Subject }
>;

@Injectable()
export class GuardrailAssignmentsService {
  constructor(
    private readonly guardrails: GuardrailsService,
    private readonly assignments: GuardrailAssignmentsRepository,
    private readonly rateLimiter: RateLimiter,
  ) {}

  /** Of one guardrail, or of all within reach. */
  async list<Subject extends AssignmentSubject>(
    manager: Manager,
    subject: Subject,
    id: string | null,
    page: PageRequest,
  ): Promise<Page<OfSubject<Subject>>> {
    const guardrail = id === null ? null : await this.guardrails.get(manager, id);
    const filter = { subject, ...(guardrail && { guardrailId: guardrail.id }) };
    const { items, total } = await this.assignments.list(manager, filter, page);
    const isOfSubject = (one: GuardrailAssignment): one is OfSubject<Subject> => one.subject === subject;
    return { items: items.filter(isOfSubject), total };
  }

  /** Returns the number of changed assignments. */
  async assign(
    actor: Actor,
    id: string,
    subject: AssignmentSubject,
    names: readonly string[],
  ): Promise<number> {
    const guardrail = await this.guardrails.get(actor, id);
    if (guardrail.isDefault)
      throw new AppError('invalid_request', {
        detail: 'the default guardrail governs all keys of its workspace, and cannot be assigned',
      });
    const named = await this.countChanges(guardrail.accountId, subject, names);
    const describe = describeChange(actor, AUDITED_ASSIGNMENT);
    return this.assignments.assign(guardrail, named, actor.person?.id ?? null, describe);
  }

  async remove(
    actor: Actor,
    id: string,
    subject: AssignmentSubject,
    names: readonly string[],
  ): Promise<number> {
    const guardrail = await this.guardrails.get(actor, id);
    const named = await this.countChanges(guardrail.accountId, subject, names);
    return this.assignments.remove(guardrail, named, describeChange(actor, AUDITED_ASSIGNMENT));
  }

  /** Each assignment is a change with its own entry in the audit log. */
  private async countChanges(
    accountId: string,
    subject: AssignmentSubject,
    names: readonly string[],
  ): Promise<NamedSubjects> {
    const distinct = [...new Set(names)];
    await this.rateLimiter.consumeFurtherChanges(accountId, distinct.length - 1);
    return { subject, names: distinct };
  }
}
