// Statements on imports of the catalogue.

const COLUMNS = `id, lists, state, actor, applied, created_at AS "createdAt"`;

/** $1 id, $2 lists, $3 hash, $4 actor, $5 proposals, $6 time. No row: an open import has the same content. */
export const INSERT_IMPORT = `
INSERT INTO catalogue_imports (id, lists, content_hash, state, actor, proposals, created_at)
SELECT $1::uuid, $2::jsonb, $3, 'open', $4, $5::jsonb, $6::timestamptz
WHERE NOT EXISTS (SELECT 1 FROM catalogue_imports WHERE content_hash = $3 AND state <> 'discarded')
RETURNING id`;

/** $1 maximum: the others are older. */
export const REMOVE_OLD_IMPORTS = `
DELETE FROM catalogue_imports WHERE id NOT IN (SELECT id FROM catalogue_imports ORDER BY created_at DESC, id DESC LIMIT $1)`;

const SUMMARY = `SELECT ${COLUMNS}, jsonb_array_length(proposals)::float8 AS "proposalCount" FROM catalogue_imports`;

export const LIST_IMPORTS = `${SUMMARY} ORDER BY created_at DESC, id DESC`;

/** $1 id. */
export const FIND_SUMMARY = `${SUMMARY} WHERE id = $1::uuid`;

/** $1 id. */
export const FIND_IMPORT = `SELECT ${COLUMNS}, proposals FROM catalogue_imports WHERE id = $1::uuid`;

/** $1 id, $2 applied ones as JSON, whose versions are taken. No row: it is discarded, or one of them is applied already. */
export const MARK_APPLIED = `
UPDATE catalogue_imports SET state = 'applied', applied = applied || $2::jsonb
WHERE id = $1::uuid AND state <> 'discarded' AND NOT applied ?| ARRAY(SELECT jsonb_object_keys($2::jsonb))
RETURNING id`;

/** $1 id. */
export const DISCARD_IMPORT = `
UPDATE catalogue_imports SET state = 'discarded' WHERE id = $1::uuid AND state <> 'discarded' RETURNING id`;
