-- The advisory lock that the owner of a lease holds while it lives, as in delivery_cursors: the lease of a killed process
-- is taken over at once.
ALTER TABLE "history_copy" ADD COLUMN "lease_session" INTEGER;
ALTER TABLE "notification_queues" ADD COLUMN "lease_session" INTEGER;
ALTER TABLE "notification_scan" ADD COLUMN "claimed_session" INTEGER;
