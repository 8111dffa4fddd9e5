-- The tables of the first version: tenants, keys and their spend, destinations and their cursors, the generation log.

CREATE TABLE "accounts" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "default_workspace_id" UUID NOT NULL,
    "credits" DECIMAL(24,12),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "workspaces" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "is_broadcast_enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),

    CONSTRAINT "workspaces_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "hash" CHAR(64) NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "limit_amount" DECIMAL(24,12),
    "limit_reset" TEXT,
    "include_byok_in_limit" BOOLEAN NOT NULL DEFAULT false,
    "creator_user_id" TEXT,
    "external_user" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE TABLE "api_key_secrets" (
    "secret_hash" CHAR(64) NOT NULL,
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_secrets_pkey" PRIMARY KEY ("secret_hash")
);

CREATE TABLE "key_spend" (
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "last_day" DATE NOT NULL DEFAULT '1970-01-01'::date,
    "total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,

    CONSTRAINT "key_spend_pkey" PRIMARY KEY ("workspace_id","api_key_id")
);

CREATE TABLE "destinations" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "slot" SMALLINT,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "privacy_mode" BOOLEAN NOT NULL,
    "broadcast_cost" BOOLEAN NOT NULL,
    "broadcast_identity" BOOLEAN NOT NULL,
    "broadcast_request_context" BOOLEAN NOT NULL,
    "sampling_rate" DOUBLE PRECISION NOT NULL,
    "api_key_hashes" TEXT[],
    "filter_rules" JSONB,
    "regions" TEXT[],
    "config_ciphertext" BYTEA NOT NULL,
    "config_encryption_key_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "destinations_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE TABLE "delivery_cursors" (
    "workspace_id" UUID NOT NULL,
    "destination_id" UUID NOT NULL,
    "log_transaction" BIGINT NOT NULL,
    "log_ordinal" INTEGER NOT NULL,
    "lease_owner" TEXT,
    "lease_expires_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_cursors_pkey" PRIMARY KEY ("workspace_id","destination_id")
);

CREATE TABLE "provider_credentials" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "provider" TEXT NOT NULL,
    "name" TEXT,
    "label" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "encryption_key_id" TEXT NOT NULL,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "is_fallback" BOOLEAN NOT NULL DEFAULT false,
    "is_required" BOOLEAN NOT NULL DEFAULT false,
    "is_byok_only" BOOLEAN NOT NULL DEFAULT false,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "allowed_models" TEXT[],
    "allowed_api_key_hashes" TEXT[],
    "allowed_user_ids" TEXT[],
    "declared_zdr" BOOLEAN,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "provider_credentials_pkey" PRIMARY KEY ("workspace_id","id")
);

CREATE TABLE "generations" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "log_transaction" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,
    "log_ordinal" INTEGER NOT NULL,
    "account_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "endpoint" TEXT,
    "provider" TEXT,
    "upstream_id" TEXT,
    "status" SMALLINT NOT NULL,
    "error_type" TEXT,
    "input_count" INTEGER NOT NULL,
    "prompt_tokens" INTEGER NOT NULL,
    "total_tokens" INTEGER NOT NULL,
    "cost" DECIMAL(24,12) NOT NULL,
    "upstream_cost" DECIMAL(24,12) NOT NULL,
    "is_byok" BOOLEAN NOT NULL,
    "dimensions" INTEGER,
    "encoding_format" TEXT NOT NULL,
    "input_type" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "upstream_ms" INTEGER,
    "user_id" TEXT,
    "session_id" TEXT,
    "request_id" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "trace" JSONB,
    "request_context" JSONB,
    "attempts" JSONB,

    CONSTRAINT "generations_pkey" PRIMARY KEY ("workspace_id","created_at","id")
) PARTITION BY RANGE ("created_at");

CREATE TABLE "generation_contents" (
    "generation_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "encryption_key_id" TEXT NOT NULL,

    CONSTRAINT "generation_contents_pkey" PRIMARY KEY ("workspace_id","created_at","generation_id")
) PARTITION BY RANGE ("created_at");

CREATE UNIQUE INDEX "accounts_id_default_workspace_id_key" ON "accounts"("id", "default_workspace_id");

CREATE UNIQUE INDEX "workspaces_account_id_id_key" ON "workspaces"("account_id", "id");

CREATE UNIQUE INDEX "workspaces_account_id_slug_key" ON "workspaces"("account_id", "slug");

CREATE INDEX "api_keys_workspace_id_created_at_id_idx" ON "api_keys"("workspace_id", "created_at", "id");

CREATE UNIQUE INDEX "api_keys_account_id_hash_key" ON "api_keys"("account_id", "hash");

CREATE INDEX "api_key_secrets_workspace_id_api_key_id_idx" ON "api_key_secrets"("workspace_id", "api_key_id");

CREATE INDEX "destinations_workspace_id_created_at_id_idx" ON "destinations"("workspace_id", "created_at", "id");

CREATE UNIQUE INDEX "destinations_workspace_id_kind_slot_key" ON "destinations"("workspace_id", "kind", "slot");

CREATE UNIQUE INDEX "destinations_account_id_id_key" ON "destinations"("account_id", "id");

CREATE INDEX "provider_credentials_workspace_id_provider_sort_order_idx" ON "provider_credentials"("workspace_id", "provider", "sort_order");

CREATE UNIQUE INDEX "provider_credentials_account_id_id_key" ON "provider_credentials"("account_id", "id");

CREATE INDEX "generations_workspace_id_log_transaction_log_ordinal_idx" ON "generations"("workspace_id", "log_transaction", "log_ordinal");

ALTER TABLE "accounts" ADD CONSTRAINT "accounts_id_default_workspace_id_fkey" FOREIGN KEY ("id", "default_workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_workspace_id_fkey" FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

ALTER TABLE "api_key_secrets" ADD CONSTRAINT "api_key_secrets_workspace_id_api_key_id_fkey" FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "key_spend" ADD CONSTRAINT "key_spend_workspace_id_api_key_id_fkey" FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "destinations" ADD CONSTRAINT "destinations_account_id_workspace_id_fkey" FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

ALTER TABLE "delivery_cursors" ADD CONSTRAINT "delivery_cursors_workspace_id_destination_id_fkey" FOREIGN KEY ("workspace_id", "destination_id") REFERENCES "destinations"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "provider_credentials" ADD CONSTRAINT "provider_credentials_account_id_workspace_id_fkey" FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- Rules that the Prisma schema cannot say.

ALTER TABLE "api_keys"
    ADD CONSTRAINT "api_keys_kind_check" CHECK ("kind" IN ('management', 'inference')),
    ADD CONSTRAINT "api_keys_limit_reset_check" CHECK ("limit_reset" IN ('daily', 'weekly', 'monthly')),
    ADD CONSTRAINT "api_keys_limit_check" CHECK ("limit_amount" >= 0),
    ADD CONSTRAINT "api_keys_hash_check" CHECK ("hash" ~ '^[0-9a-f]{64}$');

ALTER TABLE "destinations"
    ADD CONSTRAINT "destinations_slot_check" CHECK (("slot" IS NOT NULL) = ("deleted_at" IS NULL) AND "slot" BETWEEN 1 AND 5),
    ADD CONSTRAINT "destinations_sampling_rate_check" CHECK ("sampling_rate" BETWEEN 0.0001 AND 1);

-- The spend of a key is created with the key, so that settling is one UPDATE.
CREATE FUNCTION create_key_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "key_spend" ("workspace_id", "api_key_id") VALUES (NEW."workspace_id", NEW."id");
    RETURN NULL;
END $$;
CREATE TRIGGER "api_keys_create_spend" AFTER INSERT ON "api_keys" FOR EACH ROW EXECUTE FUNCTION create_key_spend();

-- Every replica caches keys by the hash of their secret. Telling them is the database's task, so that a change made by
-- any process, or by hand, takes effect everywhere as soon as it is committed. The payload is the secret's hash.
CREATE FUNCTION notify_api_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('api_key_changed', "secret_hash") FROM "api_key_secrets"
        WHERE "workspace_id" = OLD."workspace_id" AND "api_key_id" = OLD."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "api_keys_changed" AFTER UPDATE ON "api_keys" FOR EACH ROW EXECUTE FUNCTION notify_api_key_changed();

CREATE FUNCTION notify_api_key_secret_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('api_key_changed', OLD."secret_hash");
    RETURN NULL;
END $$;
CREATE TRIGGER "api_key_secrets_changed" AFTER UPDATE OR DELETE ON "api_key_secrets"
    FOR EACH ROW EXECUTE FUNCTION notify_api_key_secret_changed();

-- Partitions: generations by UTC month, their contents by UTC day. A default partition takes what falls outside (a clock
-- that jumped), so that an append never fails for want of a partition.
CREATE TABLE "generations_default" PARTITION OF "generations" DEFAULT;
CREATE TABLE "generation_contents_default" PARTITION OF "generation_contents" DEFAULT;

-- Creates the partition of `parent` that begins at `starts`, unless it is there. ATTACH PARTITION is used because
-- CREATE TABLE ... PARTITION OF would lock readers and writers of the whole log out.
CREATE FUNCTION create_time_partition(parent text, starts timestamptz, ends timestamptz, suffix text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    partition text := parent || '_' || suffix;
BEGIN
    IF to_regclass(quote_ident(partition)) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)', partition, parent);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, starts, ends);
EXCEPTION
    -- The default partition holds rows of that time, or is being read for long: they stay there, where every reader
    -- finds them, and the other partitions are made all the same. The next call tries again.
    WHEN check_violation OR lock_not_available THEN
        RAISE WARNING 'partition % was not made: %', partition, SQLERRM;
END $$;

-- Called by every replica at start and every hour; the lock lets one of them work and the others find it done.
-- Attaching waits for the readers of the default partition, and makes other readers wait behind it: not for long.
CREATE FUNCTION ensure_time_partitions(moment timestamptz) RETURNS void LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    month timestamp := date_trunc('month', moment AT TIME ZONE 'UTC');
    day timestamp := date_trunc('day', moment AT TIME ZONE 'UTC');
    starts timestamp;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('signalbox.ensure_time_partitions'));
    FOR ahead IN 0..2 LOOP
        starts := month + make_interval(months => ahead);
        PERFORM create_time_partition('generations', starts AT TIME ZONE 'UTC',
            (starts + interval '1 month') AT TIME ZONE 'UTC', to_char(starts, 'YYYY_MM'));
        starts := day + make_interval(days => ahead);
        PERFORM create_time_partition('generation_contents', starts AT TIME ZONE 'UTC',
            (starts + interval '1 day') AT TIME ZONE 'UTC', to_char(starts, 'YYYY_MM_DD'));
    END LOOP;
END $$;

SELECT ensure_time_partitions(now());
