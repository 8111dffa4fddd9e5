-- Calls that are refused before they become generations: counted by key, reason and minute, and by hour for longer, and the
-- newest of each account one by one. No foreign keys: like the log they name keys and workspaces that are purged earlier.

CREATE TABLE "refusal_minutes" (
    "workspace_id" UUID NOT NULL,
    -- All zeros: the keys beyond the bound of an account.
    "api_key_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "refusals" BIGINT NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refusal_minutes_pkey" PRIMARY KEY ("workspace_id","api_key_id","period","reason")
);
CREATE INDEX "refusal_minutes_workspace_id_period_idx" ON "refusal_minutes"("workspace_id", "period");
CREATE INDEX "refusal_minutes_period_idx" ON "refusal_minutes"("period");

CREATE TABLE "refusal_hours" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "period" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "refusals" BIGINT NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refusal_hours_pkey" PRIMARY KEY ("workspace_id","api_key_id","period","reason")
);
CREATE INDEX "refusal_hours_workspace_id_period_idx" ON "refusal_hours"("workspace_id", "period");
CREATE INDEX "refusal_hours_period_idx" ON "refusal_hours"("period");

CREATE TABLE "refusals" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    -- The five of a call that a limit refused; null for other reasons.
    "limit_window" TEXT,
    "limit_amount" DECIMAL(24,12),
    "needed_amount" DECIMAL(24,12),
    "left_amount" DECIMAL(24,12),
    -- Null as well: the limit does not reset.
    "resets_at" TIMESTAMPTZ(3),

    CONSTRAINT "refusals_pkey" PRIMARY KEY ("account_id","id")
);
CREATE INDEX "refusals_created_at_idx" ON "refusals"("created_at");
