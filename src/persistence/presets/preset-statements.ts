// The look-up of a preset by a call that names it, and the records of presets.
//
// Why plain SQL: a call waits for the look-up, once for each process and change. Records have the id and the model of their
// designated version, without its settings.

const DESIGNATED = `FROM presets AS preset
JOIN preset_versions AS version
  ON version.preset_id = preset.id AND version.version = preset.designated_version
WHERE preset.workspace_id = $1::uuid`;

/** $1 workspace, $2 slug: at most one row, by the keys of both tables. */
export const FIND_DESIGNATED = `
SELECT preset.id, preset.slug, preset.status, version.version, version.config,
  version.system_prompt AS "systemPrompt"
${DESIGNATED} AND preset.slug = $2`;

const RECORDS = `
SELECT preset.id, preset.workspace_id AS "workspaceId", preset.slug, preset.status,
  preset.status_updated_at AS "statusUpdatedAt", preset.created_at AS "createdAt", preset.updated_at AS "updatedAt",
  preset.designated_version AS "designatedVersion", version.id AS "designatedVersionId",
  preset.latest_version AS "latestVersion",
  coalesce(version.config::json ->> 'model', version.config::json -> 'models' ->> 0) AS model
${DESIGNATED} AND preset.account_id = $2::uuid`;

/** $1 workspace, $2 account, $3 slug. */
export const FIND_RECORD = `${RECORDS} AND preset.slug = $3`;

/** $1 workspace, $2 account, $3 offset, $4 limit. A workspace has a bounded number of presets. */
export const LIST_RECORDS = `${RECORDS}
ORDER BY preset.updated_at DESC, preset.id DESC OFFSET $3::bigint LIMIT $4::bigint`;
