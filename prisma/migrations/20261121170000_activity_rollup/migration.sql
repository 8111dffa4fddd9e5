-- The sums that /activity tells, and how far they have come in the log.

CREATE TABLE "activity_days" (
    "workspace_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,

    CONSTRAINT "activity_days_pkey" PRIMARY KEY ("workspace_id","day","model","endpoint","provider")
);

CREATE TABLE "activity_key_days" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "requests" BIGINT NOT NULL,
    "prompt_tokens" BIGINT NOT NULL,
    "usage" DECIMAL(30,12) NOT NULL,
    "byok_usage" DECIMAL(30,12) NOT NULL,

    CONSTRAINT "activity_key_days_pkey" PRIMARY KEY ("workspace_id","api_key_id","day","model","endpoint","provider")
);

CREATE TABLE "activity_rollup" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "summed_before" BIGINT NOT NULL DEFAULT 0,
    "pass_until" BIGINT NOT NULL DEFAULT 0,
    "pass_workspace_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    "pass_transaction" BIGINT NOT NULL DEFAULT 0,
    "pass_ordinal" INTEGER NOT NULL DEFAULT 0,
    "pass_ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "activity_rollup_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "activity_rollup_one_row_check" CHECK ("id" = 1)
);

INSERT INTO "activity_rollup" DEFAULT VALUES;
