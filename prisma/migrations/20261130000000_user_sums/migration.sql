-- Sums of the log by end user, for analytics: with key, model and provider, and one row for each user and period. Callers
-- choose users, and of up to 1,000 characters: the key has a hash of fixed length. `user_id` is null for calls without a
-- user. The cursor begins at the start of the log, as that of usage_rollup did. Until then analytics read the log.

CREATE TABLE "usage_user_hours" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "user_hash" BYTEA NOT NULL,
    "api_key_id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "user_id" TEXT,
    "requests" BIGINT NOT NULL,
    "failed_requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,

    CONSTRAINT "usage_user_hours_pkey" PRIMARY KEY ("workspace_id","period","user_hash","api_key_id","model","provider")
);
CREATE INDEX "usage_user_hours_period_idx" ON "usage_user_hours"("period");

CREATE TABLE "usage_user_days" (LIKE "usage_user_hours" INCLUDING ALL);
CREATE TABLE "usage_user_weeks" (LIKE "usage_user_hours" INCLUDING ALL);

CREATE TABLE "usage_user_hour_totals" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "user_hash" BYTEA NOT NULL,
    "user_id" TEXT,
    "requests" BIGINT NOT NULL,
    "failed_requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,

    CONSTRAINT "usage_user_hour_totals_pkey" PRIMARY KEY ("workspace_id","period","user_hash")
);
CREATE INDEX "usage_user_hour_totals_period_idx" ON "usage_user_hour_totals"("period");

CREATE TABLE "usage_user_day_totals" (LIKE "usage_user_hour_totals" INCLUDING ALL);
CREATE TABLE "usage_user_week_totals" (LIKE "usage_user_hour_totals" INCLUDING ALL);

-- Rows of the current period are updated every minute.
ALTER TABLE "usage_user_hours" SET (fillfactor = 80);
ALTER TABLE "usage_user_days" SET (fillfactor = 80);
ALTER TABLE "usage_user_weeks" SET (fillfactor = 80);
ALTER TABLE "usage_user_hour_totals" SET (fillfactor = 80);
ALTER TABLE "usage_user_day_totals" SET (fillfactor = 80);
ALTER TABLE "usage_user_week_totals" SET (fillfactor = 80);

CREATE TABLE "user_rollup" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "summed_before" BIGINT NOT NULL DEFAULT 0,
    "pass_until" BIGINT NOT NULL DEFAULT 0,
    "pass_workspace_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "pass_transaction" BIGINT NOT NULL DEFAULT 0,
    "pass_ordinal" INTEGER NOT NULL DEFAULT 0,
    "pass_ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "user_rollup_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "user_rollup_one_row_check" CHECK ("id" = 1)
);

INSERT INTO "user_rollup" DEFAULT VALUES;

-- Takes the user out of the sums of an account; the sums stay, as those of calls without a user. Returns the changed rows.
CREATE FUNCTION erase_user_sums(account uuid, erased text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    sums text;
    changed bigint;
    total bigint := 0;
BEGIN
    FOREACH sums IN ARRAY ARRAY['usage_user_hours', 'usage_user_days', 'usage_user_weeks',
        'usage_user_hour_totals', 'usage_user_day_totals', 'usage_user_week_totals']
    LOOP
        EXECUTE format('UPDATE %I SET user_id = NULL, user_hash = uuid_send(gen_random_uuid())
            WHERE workspace_id IN (SELECT id FROM workspaces WHERE account_id = $1) AND user_id = $2', sums)
        USING account, erased;
        GET DIAGNOSTICS changed = ROW_COUNT;
        total := total + changed;
    END LOOP;
    RETURN total;
END $$;
