-- Reservations: leases of processes on counters, counters of workspaces and accounts, budgets of workspaces.

ALTER TABLE "key_spend" ADD COLUMN "reserved" DECIMAL(24,12) NOT NULL DEFAULT 0;

ALTER TABLE "workspaces" ADD COLUMN "include_byok_in_budgets" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "workspace_spend" (
    "workspace_id" UUID NOT NULL,
    "last_day" DATE NOT NULL DEFAULT '1970-01-01'::date,
    "total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "reserved" DECIMAL(24,12) NOT NULL DEFAULT 0,

    CONSTRAINT "workspace_spend_pkey" PRIMARY KEY ("workspace_id")
);

CREATE TABLE "account_spend" (
    "account_id" UUID NOT NULL,
    "last_day" DATE NOT NULL DEFAULT '1970-01-01'::date,
    "total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_total" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_daily" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_weekly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "byok_monthly" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "reserved" DECIMAL(24,12) NOT NULL DEFAULT 0,

    CONSTRAINT "account_spend_pkey" PRIMARY KEY ("account_id")
);

CREATE TABLE "spend_leases" (
    "workspace_id" UUID NOT NULL,
    "holder_id" UUID NOT NULL,
    "holder" TEXT NOT NULL,
    "process_id" UUID NOT NULL,
    "amount" DECIMAL(24,12) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "spend_leases_pkey" PRIMARY KEY ("workspace_id","holder_id","process_id")
);

CREATE TABLE "workspace_budgets" (
    "workspace_id" UUID NOT NULL,
    "interval" TEXT NOT NULL,
    "limit_amount" DECIMAL(24,12) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3),

    CONSTRAINT "workspace_budgets_pkey" PRIMARY KEY ("workspace_id","interval")
);

CREATE INDEX "spend_leases_process_id_idx" ON "spend_leases"("process_id");

CREATE INDEX "spend_leases_expires_at_idx" ON "spend_leases"("expires_at");

ALTER TABLE "workspace_spend" ADD CONSTRAINT "workspace_spend_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "account_spend" ADD CONSTRAINT "account_spend_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "workspace_budgets" ADD CONSTRAINT "workspace_budgets_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Null where no price is known.
ALTER TABLE "generations" ALTER COLUMN "cost" DROP NOT NULL, ALTER COLUMN "upstream_cost" DROP NOT NULL;

ALTER TABLE "spend_leases"
    ADD CONSTRAINT "spend_leases_holder_check" CHECK ("holder" IN ('key', 'workspace', 'account')),
    ADD CONSTRAINT "spend_leases_amount_check" CHECK ("amount" >= 0);
ALTER TABLE "workspace_budgets"
    ADD CONSTRAINT "workspace_budgets_interval_check" CHECK ("interval" IN ('daily', 'weekly', 'monthly', 'lifetime')),
    ADD CONSTRAINT "workspace_budgets_limit_check" CHECK ("limit_amount" > 0);

-- The counters of a workspace and of an account are created with them, as a key's is.
CREATE FUNCTION create_workspace_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "workspace_spend" ("workspace_id") VALUES (NEW."id");
    RETURN NULL;
END $$;
CREATE TRIGGER "workspaces_create_spend" AFTER INSERT ON "workspaces" FOR EACH ROW EXECUTE FUNCTION create_workspace_spend();

CREATE FUNCTION create_account_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "account_spend" ("account_id") VALUES (NEW."id");
    RETURN NULL;
END $$;
CREATE TRIGGER "accounts_create_spend" AFTER INSERT ON "accounts" FOR EACH ROW EXECUTE FUNCTION create_account_spend();

-- Workspaces and accounts that are there already begin at zero; spend:rebuild sums up what the log says.
INSERT INTO "workspace_spend" ("workspace_id") SELECT "id" FROM "workspaces";
INSERT INTO "account_spend" ("account_id") SELECT "id" FROM "accounts";

-- Every replica keeps the terms of spending (budgets, credits) in memory, by workspace and by account; a change is told
-- by the database. The payload is the id of the workspace or of the account.
CREATE FUNCTION notify_spend_terms_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('spend_terms_changed', CASE TG_TABLE_NAME
        WHEN 'accounts' THEN to_jsonb(NEW)->>'id'
        WHEN 'workspaces' THEN to_jsonb(NEW)->>'id'
        ELSE to_jsonb(coalesce(NEW, OLD))->>'workspace_id' END);
    RETURN NULL;
END $$;
CREATE TRIGGER "accounts_credits_changed" AFTER UPDATE OF "credits" ON "accounts"
    FOR EACH ROW EXECUTE FUNCTION notify_spend_terms_changed();
CREATE TRIGGER "workspaces_budget_terms_changed" AFTER UPDATE OF "include_byok_in_budgets" ON "workspaces"
    FOR EACH ROW EXECUTE FUNCTION notify_spend_terms_changed();
CREATE TRIGGER "workspace_budgets_changed" AFTER INSERT OR UPDATE OR DELETE ON "workspace_budgets"
    FOR EACH ROW EXECUTE FUNCTION notify_spend_terms_changed();
