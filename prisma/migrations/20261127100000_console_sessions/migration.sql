-- Sessions of the console. A session presents the secret that signed in: it ends with that secret, by deletion or by expiry.
CREATE TABLE "console_sessions" (
    "id_hash" CHAR(64) NOT NULL,
    "workspace_id" UUID NOT NULL,
    "api_key_id" UUID NOT NULL,
    "secret_hash" CHAR(64) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "console_sessions_pkey" PRIMARY KEY ("id_hash")
);
CREATE INDEX "console_sessions_workspace_id_api_key_id_created_at_idx" ON "console_sessions"("workspace_id", "api_key_id", "created_at");
CREATE INDEX "console_sessions_secret_hash_idx" ON "console_sessions"("secret_hash");
CREATE INDEX "console_sessions_created_at_idx" ON "console_sessions"("created_at");
ALTER TABLE "console_sessions"
    ADD CONSTRAINT "console_sessions_workspace_id_api_key_id_fkey" FOREIGN KEY ("workspace_id", "api_key_id")
    REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION,
    ADD CONSTRAINT "console_sessions_secret_hash_fkey" FOREIGN KEY ("secret_hash")
    REFERENCES "api_key_secrets"("secret_hash") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Every replica caches sessions by the hash of their id.
CREATE FUNCTION notify_console_session_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('console_session_ended', OLD."id_hash");
    RETURN NULL;
END $$;
CREATE TRIGGER "console_sessions_ended" AFTER DELETE ON "console_sessions"
    FOR EACH ROW EXECUTE FUNCTION notify_console_session_ended();

-- The sessions of a disabled key end in the transaction of the change, by any process: enabling the key revives none.
CREATE FUNCTION end_console_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "console_sessions" WHERE "workspace_id" = NEW."workspace_id" AND "api_key_id" = NEW."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "api_keys_end_console_sessions" AFTER UPDATE ON "api_keys" FOR EACH ROW
    WHEN ((NEW."disabled" AND NOT OLD."disabled") OR (NEW."deleted_at" IS NOT NULL AND OLD."deleted_at" IS NULL))
    EXECUTE FUNCTION end_console_sessions();
