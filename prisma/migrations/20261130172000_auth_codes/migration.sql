-- Codes that a program on a person's machine exchanges for a key, once and within minutes.
CREATE TABLE "auth_codes" (
    -- SHA-256 hex.
    "code_hash" CHAR(64) NOT NULL,
    "account_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    -- The hash of the management key, or the id of the person, who consented.
    "maker" TEXT NOT NULL,
    -- S256.
    "code_challenge" TEXT NOT NULL,
    "key_label" TEXT NOT NULL,
    "limit_amount" DECIMAL(24,12),
    "limit_reset" TEXT,
    -- Of the key; null: it does not expire.
    "key_expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "auth_codes_pkey" PRIMARY KEY ("code_hash")
);
CREATE INDEX "auth_codes_account_id_idx" ON "auth_codes"("account_id");
CREATE INDEX "auth_codes_expires_at_idx" ON "auth_codes"("expires_at");
ALTER TABLE "auth_codes" ADD CONSTRAINT "auth_codes_account_id_workspace_id_fkey"
    FOREIGN KEY ("account_id", "workspace_id") REFERENCES "workspaces"("account_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- The keys that codes were exchanged for: another sign-in of the same maker with the same label rotates the key.
CREATE TABLE "login_keys" (
    "workspace_id" UUID NOT NULL,
    "maker" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "api_key_id" UUID NOT NULL,

    CONSTRAINT "login_keys_pkey" PRIMARY KEY ("workspace_id","maker","label")
);
CREATE INDEX "login_keys_workspace_id_api_key_id_idx" ON "login_keys"("workspace_id", "api_key_id");
ALTER TABLE "login_keys" ADD CONSTRAINT "login_keys_workspace_id_api_key_id_fkey"
    FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
