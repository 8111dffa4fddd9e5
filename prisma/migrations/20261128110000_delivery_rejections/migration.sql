-- Rejected traces since the last accepted one, across all consumers of a destination: the pause of a platform that
-- rejects everything must not depend on how long a consumer lives.
ALTER TABLE "delivery_cursors" ADD COLUMN "consecutive_rejections" INTEGER NOT NULL DEFAULT 0;
