-- Of a refused chat without a token limit: the longest answer that the limit would have allowed. Null: another call.
ALTER TABLE "refusals" ADD COLUMN "affordable_tokens" INTEGER;
