-- Whether the embeddings calls of a key use the cache when they do not say so themselves.
ALTER TABLE "api_keys" ADD COLUMN "embedding_cache" BOOLEAN NOT NULL DEFAULT false;
