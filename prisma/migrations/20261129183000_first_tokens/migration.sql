-- Times to the first token of streamed chats, counted in the buckets of latencies. Null: no call of the row has one.
ALTER TABLE "usage_hours" ADD COLUMN "first_tokens" INTEGER[];
ALTER TABLE "usage_days" ADD COLUMN "first_tokens" INTEGER[];
ALTER TABLE "usage_key_hours" ADD COLUMN "first_tokens" INTEGER[];
ALTER TABLE "usage_key_days" ADD COLUMN "first_tokens" INTEGER[];
