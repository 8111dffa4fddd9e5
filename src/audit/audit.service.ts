// Reads the audit log of an account.
import { Injectable } from '@nestjs/common';
import type { Manager } from '../domain/people/manager.js';
import type { StoredAuditEntry } from '../domain/audit.js';
import { AuditLogRepository } from '../persistence/audit/audit-log.repository.js';
import { KeyHashes } from '../persistence/keys/key-hashes.js';
import type { AuditQueryDto } from './dto/audit-query.dto.js';

export interface AuditPage {
  readonly entries: readonly StoredAuditEntry[];
  /** The present names of the keys that made the changes, by hash; without purged keys. */
  readonly actors: ReadonlyMap<string, { readonly name: string }>;
  /** The cursor of the next page; null: there is none. */
  readonly next: string | null;
}

@Injectable()
export class AuditService {
  constructor(
    private readonly auditLog: AuditLogRepository,
    private readonly keyHashes: KeyHashes,
  ) {}

  async list({ accountId, reach }: Manager, query: AuditQueryDto): Promise<AuditPage> {
    const { limit, object_id: objectId } = query;
    // Entries name a key by the hash of its record.
    const names = await this.keyHashes.find(accountId, objectId === undefined ? [] : [objectId]);
    const found = await this.auditLog.list(accountId, {
      objectType: query.object_type,
      objectId: names.get(objectId ?? '')?.hash ?? objectId,
      workspaceId: query.workspace_id,
      workspaceIds: reach.workspaceIds,
      action: query.action,
      from: toDate(query.from),
      to: toDate(query.to),
      after: query.after,
      // One more entry shows whether there is a next page.
      limit: limit + 1,
    });
    const entries = found.slice(0, limit);
    const actors = await this.keyHashes.find(accountId, [
      ...new Set(entries.flatMap(({ actorHash }) => actorHash ?? [])),
    ]);
    return { entries, actors, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
  }
}

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
