-- Sums of the log by hour and by day that analytics read: of workspaces, and of keys. The cursor begins at the start of
-- the log, so that the rows of earlier versions are summed in the background. Until then analytics read the log.

CREATE TABLE "usage_hours" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "error_type" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,
    "last_created_at" TIMESTAMPTZ(3) NOT NULL,
    "latencies" INTEGER[],

    CONSTRAINT "usage_hours_pkey" PRIMARY KEY ("workspace_id","period","model","endpoint","provider","status","error_type")
);
CREATE INDEX "usage_hours_period_idx" ON "usage_hours"("period");

CREATE TABLE "usage_days" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "error_type" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,
    "last_created_at" TIMESTAMPTZ(3) NOT NULL,
    "latencies" INTEGER[],

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("workspace_id","period","model","endpoint","provider","status","error_type")
);
CREATE INDEX "usage_days_period_idx" ON "usage_days"("period");

CREATE TABLE "usage_key_hours" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "error_type" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,
    "last_created_at" TIMESTAMPTZ(3) NOT NULL,
    "latencies" INTEGER[],

    CONSTRAINT "usage_key_hours_pkey" PRIMARY KEY ("workspace_id","api_key_id","period","model","endpoint","provider","status","error_type")
);
CREATE INDEX "usage_key_hours_period_idx" ON "usage_key_hours"("period");

CREATE TABLE "usage_key_days" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "error_type" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "inputs" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "completion_tokens" BIGINT NOT NULL,
    "reasoning_tokens" BIGINT NOT NULL,
    "cached_tokens" BIGINT NOT NULL,
    "total_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,
    "duration_ms" BIGINT NOT NULL,
    "last_created_at" TIMESTAMPTZ(3) NOT NULL,
    "latencies" INTEGER[],

    CONSTRAINT "usage_key_days_pkey" PRIMARY KEY ("workspace_id","api_key_id","period","model","endpoint","provider","status","error_type")
);
CREATE INDEX "usage_key_days_period_idx" ON "usage_key_days"("period");

-- One narrow row for each key and period: rankings of keys read all keys of a workspace.

CREATE TABLE "usage_key_hour_totals" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "api_key_id" UUID NOT NULL,
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

    CONSTRAINT "usage_key_hour_totals_pkey" PRIMARY KEY ("workspace_id","period","api_key_id")
);
CREATE INDEX "usage_key_hour_totals_period_idx" ON "usage_key_hour_totals"("period");

CREATE TABLE "usage_key_day_totals" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "api_key_id" UUID NOT NULL,
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

    CONSTRAINT "usage_key_day_totals_pkey" PRIMARY KEY ("workspace_id","period","api_key_id")
);
CREATE INDEX "usage_key_day_totals_period_idx" ON "usage_key_day_totals"("period");

CREATE TABLE "usage_key_week_totals" (
    "workspace_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "api_key_id" UUID NOT NULL,
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

    CONSTRAINT "usage_key_week_totals_pkey" PRIMARY KEY ("workspace_id","period","api_key_id")
);
CREATE INDEX "usage_key_week_totals_period_idx" ON "usage_key_week_totals"("period");

-- Rows of the current period are updated every minute: room on their pages keeps the indexes unchanged.
ALTER TABLE "usage_hours" SET (fillfactor = 80);
ALTER TABLE "usage_days" SET (fillfactor = 80);
ALTER TABLE "usage_key_hours" SET (fillfactor = 80);
ALTER TABLE "usage_key_days" SET (fillfactor = 80);
ALTER TABLE "usage_key_hour_totals" SET (fillfactor = 80);
ALTER TABLE "usage_key_day_totals" SET (fillfactor = 80);
ALTER TABLE "usage_key_week_totals" SET (fillfactor = 80);

CREATE TABLE "usage_rollup" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "summed_before" BIGINT NOT NULL DEFAULT 0,
    "pass_until" BIGINT NOT NULL DEFAULT 0,
    "pass_workspace_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "pass_transaction" BIGINT NOT NULL DEFAULT 0,
    "pass_ordinal" INTEGER NOT NULL DEFAULT 0,
    "pass_ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "usage_rollup_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "usage_rollup_one_row_check" CHECK ("id" = 1)
);

INSERT INTO "usage_rollup" DEFAULT VALUES;
