-- About how many bytes the calls of a workspace and UTC day have stored, for its quotas. Contents live for a day at most, so
-- the sum of two days is all that is stored, and what a lost process did not add or subtract is forgotten with its day.
CREATE TABLE "storage_days" (
    "workspace_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "log_bytes" BIGINT NOT NULL DEFAULT 0,
    "content_bytes" BIGINT NOT NULL DEFAULT 0,
    "contents_skipped" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "storage_days_pkey" PRIMARY KEY ("workspace_id", "day")
);
-- For the removal of past days.
CREATE INDEX "storage_days_day_idx" ON "storage_days"("day");
