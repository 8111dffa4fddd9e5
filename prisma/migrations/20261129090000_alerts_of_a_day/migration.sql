-- What each rule has reported in a UTC day, so that the alerts of an account have a bound.
ALTER TABLE "notification_queues"
  ADD COLUMN "counted_on" DATE NOT NULL DEFAULT '1970-01-01'::date,
  ADD COLUMN "reported_keys" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "reported_others" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "left_out" INTEGER NOT NULL DEFAULT 0;

-- Days that are over and whose left-out alerts are to be reported.
CREATE INDEX "notification_queues_left_out_idx" ON "notification_queues" ("counted_on") WHERE "left_out" > 0;
