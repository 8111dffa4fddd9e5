// The statements that exchange the stored bytes of workspaces.
//
// Why plain SQL: one statement adds the sums of many workspaces.

/** $1 workspaces, $2 days, $3 to $5 the sums to add. */
export const ADD_STORAGE = `
INSERT INTO storage_days AS stored (workspace_id, day, log_bytes, content_bytes, contents_skipped)
SELECT * FROM unnest($1::uuid[], $2::date[], $3::bigint[], $4::bigint[], $5::bigint[])
  AS added (workspace_id, day, log_bytes, content_bytes, contents_skipped)
ORDER BY workspace_id, day
ON CONFLICT (workspace_id, day) DO UPDATE SET log_bytes = stored.log_bytes + excluded.log_bytes,
  content_bytes = stored.content_bytes + excluded.content_bytes,
  contents_skipped = stored.contents_skipped + excluded.contents_skipped`;

/** $1 workspaces, $2 today. Contents live for a day at most. */
export const READ_STORAGE = `
SELECT workspace_id AS "workspaceId", coalesce(sum(log_bytes) FILTER (WHERE day = $2::date), 0)::float8 AS "logBytes",
  sum(content_bytes)::float8 AS "contentBytes"
FROM storage_days WHERE workspace_id = ANY ($1::uuid[]) AND day BETWEEN $2::date - 1 AND $2::date + 1
GROUP BY workspace_id`;
