-- Budget alerts: rules of an account or workspace, the thresholds that they have reported, the events that report them to
-- the rule's receiver, and the queues that deliver events.

CREATE TABLE "notification_rules" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    -- Null: the whole account.
    "workspace_id" UUID,
    -- The unique key makes the quota of an account exact.
    "slot" SMALLINT NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "covers" TEXT[],
    "thresholds" INTEGER[],
    "config_ciphertext" BYTEA NOT NULL,
    "config_encryption_key_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "notification_rules_pkey" PRIMARY KEY ("account_id","id")
);
CREATE UNIQUE INDEX "notification_rules_account_id_slot_key" ON "notification_rules"("account_id", "slot");
CREATE INDEX "notification_rules_workspace_id_idx" ON "notification_rules"("workspace_id");
ALTER TABLE "notification_rules" ADD CONSTRAINT "notification_rules_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;
ALTER TABLE "notification_rules" ADD CONSTRAINT "notification_rules_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- Apart from the rule: a delivery must not change the version of the rule.
CREATE TABLE "notification_queues" (
    "account_id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    -- Null: no event is pending.
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_owner" UUID,
    "lease_expires_at" TIMESTAMPTZ(3),
    -- Failed attempts since the last success.
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "notification_queues_pkey" PRIMARY KEY ("account_id","rule_id")
);
CREATE INDEX "notification_queues_next_attempt_at_idx" ON "notification_queues"("next_attempt_at");
ALTER TABLE "notification_queues" ADD CONSTRAINT "notification_queues_account_id_rule_id_fkey"
    FOREIGN KEY ("account_id", "rule_id") REFERENCES "notification_rules"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- The highest threshold that a rule has reported of a limit, in its newest window. One row for each, however many windows
-- pass: its lock makes every report the only one.
CREATE TABLE "notification_marks" (
    "account_id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    -- The key, workspace or account.
    "subject_id" UUID NOT NULL,
    -- daily | weekly | monthly | lifetime
    "interval" TEXT NOT NULL,
    -- 1970-01-01 for a lifetime.
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    -- The highest limit of the window.
    "limit_amount" DECIMAL(24,12) NOT NULL,
    "threshold" INTEGER NOT NULL,
    "workspace_id" UUID,
    -- Null: the subject is no key. The mark goes with the row of its key.
    "api_key_id" UUID,

    CONSTRAINT "notification_marks_pkey" PRIMARY KEY ("account_id","rule_id","subject_id","interval")
);
CREATE INDEX "notification_marks_workspace_id_api_key_id_idx" ON "notification_marks"("workspace_id", "api_key_id");
ALTER TABLE "notification_marks" ADD CONSTRAINT "notification_marks_account_id_rule_id_fkey"
    FOREIGN KEY ("account_id", "rule_id") REFERENCES "notification_rules"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "notification_marks" ADD CONSTRAINT "notification_marks_workspace_id_api_key_id_fkey"
    FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

CREATE TABLE "notification_events" (
    "account_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    -- The body of the request, without secrets. A retry repeats its bytes.
    "payload" TEXT NOT NULL,
    -- pending | delivered | dead_letter
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_status" INTEGER,
    -- Without words of the receiver.
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    -- From then on it is no longer sent.
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    -- Null: pending.
    "concluded_at" TIMESTAMPTZ(3),

    CONSTRAINT "notification_events_pkey" PRIMARY KEY ("account_id","id")
);
CREATE INDEX "notification_events_account_id_rule_id_id_idx" ON "notification_events"("account_id", "rule_id", "id");
CREATE INDEX "notification_events_created_at_idx" ON "notification_events"("created_at");
CREATE INDEX "notification_events_pending_idx" ON "notification_events"("account_id", "rule_id", "id") WHERE "state" = 'pending';
ALTER TABLE "notification_events" ADD CONSTRAINT "notification_events_account_id_rule_id_fkey"
    FOREIGN KEY ("account_id", "rule_id") REFERENCES "notification_rules"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- How far the log has been read for keys that were called, and the process that reads it. One row.
CREATE TABLE "notification_scan" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    -- Every row of an earlier transaction has been read.
    "scanned_before" BIGINT NOT NULL,
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,
    "ended_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity'::timestamp with time zone,

    CONSTRAINT "notification_scan_pkey" PRIMARY KEY ("id")
);
INSERT INTO "notification_scan" ("scanned_before")
SELECT pg_snapshot_xmin(current_log_snapshot()::pg_snapshot)::text::bigint;
