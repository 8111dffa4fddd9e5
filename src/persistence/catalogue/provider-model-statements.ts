// Statements on the models that providers list.

/**
 * $1 provider, $2 now, $3 the request before which is old, $4 the same after a failure. A row: the caller alone asks. Until it
 * reports, its request counts as failed.
 */
export const CLAIM_LIST = `
INSERT INTO provider_model_lists AS list (provider, asked_at, problem) VALUES ($1, $2::timestamptz, 'no answer yet')
ON CONFLICT (provider) DO UPDATE SET asked_at = excluded.asked_at, problem = excluded.problem
WHERE list.asked_at <= CASE WHEN list.problem IS NULL THEN $3::timestamptz ELSE $4::timestamptz END
RETURNING provider`;

/** $1 provider, $2 reason. */
export const NOTE_FAILURE = `UPDATE provider_model_lists SET problem = $2 WHERE provider = $1`;

/**
 * $1 provider, $2 now, $3 JSON list of names and facts, each name once, $4 maximum of other names that are kept, $5 the time of the
 * oldest one. Notifies every process.
 */
export const RECORD_MODELS = `
WITH listed AS MATERIALIZED (
  SELECT name, facts FROM jsonb_to_recordset($3::jsonb) AS model (name text, facts jsonb)
), recorded AS (
  INSERT INTO provider_models (provider, upstream_model, first_seen, last_seen, facts)
  SELECT $1, name, $2::timestamptz, $2::timestamptz, facts FROM listed
  ON CONFLICT (provider, upstream_model) DO UPDATE SET last_seen = excluded.last_seen, facts = excluded.facts
), others AS (
  SELECT upstream_model, last_seen, row_number() OVER (ORDER BY last_seen DESC, upstream_model) AS place
  FROM provider_models WHERE provider = $1 AND upstream_model NOT IN (SELECT name FROM listed)
), forgotten AS (
  DELETE FROM provider_models WHERE provider = $1 AND upstream_model IN (
    SELECT upstream_model FROM others WHERE place > $4 OR last_seen < $5::timestamptz
  )
), noted AS (
  INSERT INTO provider_model_lists (provider, asked_at, answered_at) VALUES ($1, $2::timestamptz, $2::timestamptz)
  ON CONFLICT (provider) DO UPDATE SET answered_at = excluded.answered_at, problem = NULL
)
SELECT pg_notify('provider_models_changed', $1)`;

/** $1 provider. */
export const LIST_MODELS = `
SELECT upstream_model AS name, first_seen AS "firstSeen", last_seen AS "lastSeen", facts
FROM provider_models WHERE provider = $1 ORDER BY upstream_model`;

/** $1 provider. */
export const FIND_LIST = `
SELECT asked_at AS "askedAt", answered_at AS "answeredAt", problem FROM provider_model_lists WHERE provider = $1`;

/** $1 time: the names that providers have listed since. */
export const SEEN_MODELS = `
SELECT provider, upstream_model AS name, last_seen AS "lastSeen", facts FROM provider_models
WHERE last_seen >= $1::timestamptz ORDER BY provider, upstream_model`;
