-- Number of living objects of a workspace or account, for its quotas. Counting the rows at each creation would cost more
-- with each row. Triggers keep the numbers in the transaction of every change. A creation reads the number after its own
-- insert: the row lock that the trigger took makes concurrent creations wait, so the quota is exact.
CREATE TABLE "quota_usage" (
    "owner_id" UUID NOT NULL,
    "resource" TEXT NOT NULL,
    "used" BIGINT NOT NULL,

    CONSTRAINT "quota_usage_pkey" PRIMARY KEY ("owner_id", "resource")
);

-- Rows are locked in the order of their owners everywhere.
CREATE FUNCTION change_quota_usage(changed_resource TEXT, owners UUID[], changes BIGINT[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO "quota_usage" AS usage ("owner_id", "resource", "used")
    SELECT owner, changed_resource, sum(change) FROM unnest(owners, changes) AS one (owner, change)
    GROUP BY owner HAVING sum(change) <> 0 ORDER BY owner
    ON CONFLICT ("owner_id", "resource") DO UPDATE SET "used" = usage."used" + excluded."used"
$$;

CREATE FUNCTION count_created_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('api_keys', array_agg(owner), array_agg(1::bigint))
    FROM changed, LATERAL (VALUES ("workspace_id"), ("account_id")) AS owners (owner) WHERE "deleted_at" IS NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION count_removed_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('api_keys', array_agg(owner), array_agg(-1::bigint))
    FROM changed, LATERAL (VALUES ("workspace_id"), ("account_id")) AS owners (owner) WHERE "deleted_at" IS NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION count_deleted_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('api_keys', ARRAY[NEW."workspace_id", NEW."account_id"], ARRAY[-1, -1]);
    RETURN NULL;
END $$;
CREATE TRIGGER "api_keys_counted" AFTER INSERT ON "api_keys"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_created_keys();
CREATE TRIGGER "api_keys_removed_are_counted" AFTER DELETE ON "api_keys"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_keys();
CREATE TRIGGER "api_keys_deleted_are_counted" AFTER UPDATE OF "deleted_at" ON "api_keys"
    FOR EACH ROW WHEN (OLD."deleted_at" IS NULL AND NEW."deleted_at" IS NOT NULL) EXECUTE FUNCTION count_deleted_key();

CREATE FUNCTION count_created_workspaces() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('workspaces', array_agg("account_id"), array_agg(1::bigint))
    FROM changed WHERE "deleted_at" IS NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION count_deleted_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('workspaces', ARRAY[NEW."account_id"], ARRAY[-1]);
    RETURN NULL;
END $$;
CREATE TRIGGER "workspaces_counted" AFTER INSERT ON "workspaces"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_created_workspaces();
CREATE TRIGGER "workspaces_deleted_are_counted" AFTER UPDATE OF "deleted_at" ON "workspaces"
    FOR EACH ROW WHEN (OLD."deleted_at" IS NULL AND NEW."deleted_at" IS NOT NULL)
    EXECUTE FUNCTION count_deleted_workspace();

CREATE FUNCTION count_workspace_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM change_quota_usage('members', array_agg("workspace_id"), array_agg(TG_ARGV[0]::bigint)) FROM changed;
    RETURN NULL;
END $$;
CREATE TRIGGER "workspace_members_counted" AFTER INSERT ON "workspace_members"
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_workspace_members('1');
CREATE TRIGGER "workspace_members_removed_are_counted" AFTER DELETE ON "workspace_members"
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_workspace_members('-1');

-- The triggers stand, and keep out every writer until the end of this transaction: what is counted now is exact.
INSERT INTO "quota_usage" ("owner_id", "resource", "used")
SELECT "workspace_id", 'api_keys', count(*) FROM "api_keys" WHERE "deleted_at" IS NULL GROUP BY "workspace_id"
UNION ALL
SELECT "account_id", 'api_keys', count(*) FROM "api_keys" WHERE "deleted_at" IS NULL GROUP BY "account_id"
UNION ALL
SELECT "account_id", 'workspaces', count(*) FROM "workspaces" WHERE "deleted_at" IS NULL GROUP BY "account_id"
UNION ALL
SELECT "workspace_id", 'members', count(*) FROM "workspace_members" GROUP BY "workspace_id";

-- Deleted rows stay until they are purged, and leave every scan: lists and calls read living rows alone.
DROP INDEX "api_keys_workspace_id_created_at_id_idx";
CREATE INDEX "api_keys_living_idx" ON "api_keys"("workspace_id", "created_at", "id") WHERE "deleted_at" IS NULL;
DROP INDEX "destinations_workspace_id_created_at_id_idx";
CREATE INDEX "destinations_living_idx" ON "destinations"("workspace_id", "created_at", "id") WHERE "deleted_at" IS NULL;
CREATE INDEX "workspaces_living_idx" ON "workspaces"("account_id", "created_at", "id") WHERE "deleted_at" IS NULL;
-- For the purge.
CREATE INDEX "api_keys_deleted_idx" ON "api_keys"("deleted_at") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "destinations_deleted_idx" ON "destinations"("deleted_at") WHERE "deleted_at" IS NOT NULL;
CREATE INDEX "provider_credentials_deleted_idx" ON "provider_credentials"("deleted_at") WHERE "deleted_at" IS NOT NULL;

-- A deleted destination has no backlog: with its cursor it leaves every scan for work, and with its dead letters the scans
-- for contents that are still needed. A delivery in flight finds its claim gone.
CREATE FUNCTION forget_deliveries_of_deleted_destination() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "delivery_cursors" WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    DELETE FROM "dead_letters" WHERE "workspace_id" = NEW."workspace_id" AND "destination_id" = NEW."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "destinations_deleted_forget_deliveries" AFTER UPDATE OF "deleted_at" ON "destinations"
    FOR EACH ROW WHEN (OLD."deleted_at" IS NULL AND NEW."deleted_at" IS NOT NULL)
    EXECUTE FUNCTION forget_deliveries_of_deleted_destination();
-- The destinations of a deleted workspace stay, and are switched off for ever.
CREATE FUNCTION forget_deliveries_of_deleted_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM "delivery_cursors" WHERE "workspace_id" = NEW."id";
    DELETE FROM "dead_letters" WHERE "workspace_id" = NEW."id";
    RETURN NULL;
END $$;
CREATE TRIGGER "workspaces_deleted_forget_deliveries" AFTER UPDATE OF "deleted_at" ON "workspaces"
    FOR EACH ROW WHEN (OLD."deleted_at" IS NULL AND NEW."deleted_at" IS NOT NULL)
    EXECUTE FUNCTION forget_deliveries_of_deleted_workspace();

DELETE FROM "dead_letters" AS letter USING "destinations" AS destination, "workspaces" AS workspace
WHERE destination."workspace_id" = letter."workspace_id" AND destination."id" = letter."destination_id"
    AND workspace."id" = letter."workspace_id"
    AND (destination."deleted_at" IS NOT NULL OR workspace."deleted_at" IS NOT NULL);
DELETE FROM "delivery_cursors" AS cursor USING "destinations" AS destination, "workspaces" AS workspace
WHERE destination."workspace_id" = cursor."workspace_id" AND destination."id" = cursor."destination_id"
    AND workspace."id" = cursor."workspace_id"
    AND (destination."deleted_at" IS NOT NULL OR workspace."deleted_at" IS NOT NULL);
