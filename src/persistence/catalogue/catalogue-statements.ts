// Statements on the revisions of the catalogue.

const OF_ENTRY = `revision.scope = 'operator' AND revision.kind = entry.kind AND revision.entry_id = entry.entry_id`;

/** One change at a time takes a version. */
export const LOCK_CATALOGUE = `SELECT pg_advisory_xact_lock(hashtext('signalbox.catalogue'))::text`;

export const NEWEST_VERSION = `SELECT coalesce(max(version), 0)::float8 AS version FROM catalogue_revisions`;

/** The newest documents of both ranks of the entries of a relation `entry (kind, entry_id)`. */
const layersOf = (entries: string): string => `
SELECT entry.kind, entry.entry_id AS id, rank.rank, newest.version::float8 AS version, newest.document
FROM ${entries} AS entry
CROSS JOIN (VALUES ('imported'), ('operator')) AS rank (rank)
CROSS JOIN LATERAL (
  SELECT version, document FROM catalogue_revisions AS revision
  WHERE ${OF_ENTRY} AND revision.rank = rank.rank ORDER BY version DESC LIMIT 1
) AS newest`;

/**
 * $1 version, $2 maximum of revisions: the layers of the entries that the next revisions concern, and the version of the last of
 * these. Revisions that a later one of their layer replaces are passed over, so that the load at the start reads each once.
 */
export const CHANGED_LAYERS = `
WITH page AS (
  SELECT version, scope, rank, kind, entry_id FROM catalogue_revisions WHERE version > $1 ORDER BY version LIMIT $2
), entry AS (
  SELECT DISTINCT kind, entry_id FROM page WHERE scope = 'operator' AND NOT EXISTS (
    SELECT 1 FROM catalogue_revisions AS later WHERE later.scope = page.scope AND later.kind = page.kind
      AND later.entry_id = page.entry_id AND later.rank = page.rank AND later.version > page.version
  )
)
SELECT last.version::float8 AS "lastVersion", layer.*
FROM (SELECT coalesce(max(version), $1) AS version FROM page) AS last
LEFT JOIN (${layersOf('entry')}) AS layer ON true`;

/** $1 kinds and $2 ids: of these entries. */
export const LAYERS = layersOf('unnest($1::text[], $2::text[])').replace(
  'AS entry',
  'AS entry (kind, entry_id)',
);

/** $1 version before the first, $2 actor, $3 reason, $4 time, $5 JSON list of rows in their order. */
export const APPEND = `
INSERT INTO catalogue_revisions (version, scope, rank, kind, entry_id, document, actor, reason, created_at)
SELECT $1::bigint + row_number, 'operator', row.value->>'rank', row.value->>'kind', row.value->>'id',
  nullif(row.value->'document', 'null'), $2, $3, $4::timestamptz
FROM jsonb_array_elements($5::jsonb) WITH ORDINALITY AS row (value, row_number)`;

const REVISION = `revision.version::float8 AS version, revision.rank, revision.kind, revision.entry_id AS id, revision.document,
  revision.actor, revision.reason, revision.created_at AS "createdAt", before.document AS before`;
const BEFORE = `
LEFT JOIN LATERAL (
  SELECT document FROM catalogue_revisions AS earlier WHERE earlier.scope = revision.scope AND earlier.kind = revision.kind
    AND earlier.entry_id = revision.entry_id AND earlier.rank = revision.rank AND earlier.version < revision.version
  ORDER BY version DESC LIMIT 1
) AS before ON true`;

/** $1 exclusive upper bound of the version, $2 maximum. Newest first. */
export const LIST_REVISIONS = `
SELECT ${REVISION} FROM catalogue_revisions AS revision ${BEFORE}
WHERE revision.scope = 'operator' AND revision.version < $1 ORDER BY revision.version DESC LIMIT $2`;

/** $1 version. */
export const FIND_REVISION = `
SELECT ${REVISION} FROM catalogue_revisions AS revision ${BEFORE}
WHERE revision.scope = 'operator' AND revision.version = $1`;

/** $1 kind, $2 id, $3 maximum. Newest first. */
export const REVISIONS_OF_ENTRY = `
SELECT ${REVISION} FROM catalogue_revisions AS revision ${BEFORE}
WHERE revision.scope = 'operator' AND revision.kind = $1 AND revision.entry_id = $2
ORDER BY revision.version DESC LIMIT $3`;
