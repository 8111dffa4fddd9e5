-- The result of the last replay of a dead letter. A delivered one stays in the list until its retention ends.
ALTER TABLE "dead_letters"
    ADD COLUMN "replayed_at" TIMESTAMPTZ(3),
    ADD COLUMN "is_delivered" BOOLEAN NOT NULL DEFAULT false;
