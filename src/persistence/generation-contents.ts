// How long stored contents stay: until every destination that may need them has passed, and never longer than a day.
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

// Rows that one statement removes: a backlog goes in steps that lock nobody out.
const STEP = 5_000;
const WORKSPACES_AT_ONCE = 200;
// The highest transaction: of what nobody needs, all has been passed.
const END_OF_LOG = 2n ** 63n - 1n;

/**
 * $1 workspaces. What a dead letter still has to be delivered with stays. One statement, and so one snapshot: a
 * destination that comes to be meanwhile keeps the contents of the calls that it will be sent.
 */
const REMOVE_PASSED = `
DELETE FROM generation_contents AS content USING (
  SELECT passed.* FROM unnest($1::uuid[]) AS due (workspace_id)
  LEFT JOIN LATERAL (
    SELECT cursor.log_transaction AS transaction, cursor.log_ordinal AS ordinal FROM delivery_cursors AS cursor
    JOIN destinations AS destination
      ON destination.workspace_id = cursor.workspace_id AND destination.id = cursor.destination_id
    JOIN workspaces AS workspace ON workspace.id = cursor.workspace_id
    WHERE cursor.workspace_id = due.workspace_id AND destination.enabled AND destination.deleted_at IS NULL
      AND destination.needs_content AND workspace.is_broadcast_enabled
    ORDER BY cursor.log_transaction, cursor.log_ordinal LIMIT 1
  ) AS behind ON true
  CROSS JOIN LATERAL (
    SELECT workspace_id, created_at, generation_id FROM generation_contents AS stored
    WHERE stored.workspace_id = due.workspace_id AND (log_transaction, log_ordinal) <= (
      coalesce(behind.transaction, ${END_OF_LOG}), coalesce(behind.ordinal, 0)
    ) AND NOT EXISTS (
      SELECT 1 FROM dead_letters AS letter
      WHERE letter.workspace_id = stored.workspace_id
        AND letter.generation_id = ANY(coalesce(stored.generation_ids, ARRAY[stored.generation_id]))
    ) LIMIT ${STEP}
  ) AS passed LIMIT ${STEP}
) AS passed
WHERE content.workspace_id = passed.workspace_id AND content.created_at = passed.created_at
  AND content.generation_id = passed.generation_id
RETURNING 1`;

/** $1 a moment. */
const REMOVE_OLDER = `
DELETE FROM generation_contents AS content USING (
  SELECT workspace_id, created_at, generation_id FROM generation_contents WHERE created_at < $1 LIMIT ${STEP}
) AS old
WHERE content.workspace_id = old.workspace_id AND content.created_at = old.created_at
  AND content.generation_id = old.generation_id
RETURNING 1`;

@Injectable()
export class GenerationContents {
  constructor(private readonly database: Database) {}

  /** Removes what no destination of the workspaces may need any more. */
  async removePassed(workspaceIds: readonly string[]): Promise<void> {
    for (let from = 0; from < workspaceIds.length; from += WORKSPACES_AT_ONCE) {
      await this.removeInSteps(REMOVE_PASSED, [workspaceIds.slice(from, from + WORKSPACES_AT_ONCE)]);
    }
  }

  /** Removes what was made before `moment`, of every workspace. */
  async removeOlderThan(moment: Date): Promise<void> {
    await this.removeInSteps(REMOVE_OLDER, [moment]);
  }

  private async removeInSteps(text: string, values: readonly unknown[]): Promise<void> {
    for (;;) {
      const removed = await this.database.query({ text, values: [...values] });
      if (removed.length < STEP) return;
    }
  }
}
