-- Limits of guardrails, each for one key or for all keys of one member: counters beside those of keys, workspaces and accounts,
-- with the same leases.

ALTER TABLE "guardrails"
    ADD COLUMN "limit_amount" DECIMAL(24,12),
    ADD COLUMN "limit_reset" TEXT,
    ADD CONSTRAINT "guardrails_limit_reset_check" CHECK ("limit_reset" IN ('daily', 'weekly', 'monthly')),
    ADD CONSTRAINT "guardrails_limit_check" CHECK ("limit_amount" > 0 AND "limit_reset" IS NOT NULL OR
        "limit_amount" IS NULL AND "limit_reset" IS NULL),
    -- The budgets of a workspace limit all of its keys.
    ADD CONSTRAINT "guardrails_default_limit_check" CHECK (NOT "is_default" OR "limit_amount" IS NULL);

-- The spend of a key, or of all keys that a member has created, from the first assignment on and before. It stays when the
-- assignment ends: the next one finds it complete.
CREATE TABLE "guardrail_spend" (
    "workspace_id" UUID NOT NULL,
    -- guardrail_counter_id()
    "id" UUID NOT NULL,
    "api_key_id" UUID,
    "user_id" TEXT,
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

    CONSTRAINT "guardrail_spend_pkey" PRIMARY KEY ("workspace_id","id"),
    CONSTRAINT "guardrail_spend_subject_check" CHECK (("api_key_id" IS NULL) <> ("user_id" IS NULL))
);
CREATE UNIQUE INDEX "guardrail_spend_workspace_id_api_key_id_key" ON "guardrail_spend"("workspace_id", "api_key_id");
CREATE UNIQUE INDEX "guardrail_spend_workspace_id_user_id_key" ON "guardrail_spend"("workspace_id", "user_id");
ALTER TABLE "guardrail_spend" ADD CONSTRAINT "guardrail_spend_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
ALTER TABLE "guardrail_spend" ADD CONSTRAINT "guardrail_spend_workspace_id_api_key_id_fkey" FOREIGN KEY ("workspace_id", "api_key_id") REFERENCES "api_keys"("workspace_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- The counters that spend of the key moves as well. Null: none.
ALTER TABLE "key_spend" ADD COLUMN "guardrail_counters" UUID[];

ALTER TABLE "spend_leases"
    DROP CONSTRAINT "spend_leases_holder_check",
    ADD CONSTRAINT "spend_leases_holder_check" CHECK ("holder" IN ('key', 'guardrail', 'workspace', 'account'));

-- A new key counts toward the counter of its creator. An assignment in another transaction locks the workspace: it has counted
-- this key, or has committed its counter.
CREATE OR REPLACE FUNCTION create_key_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."creator_user_id" IS NOT NULL THEN
        PERFORM FROM "workspaces" WHERE "id" = NEW."workspace_id" FOR SHARE;
    END IF;
    INSERT INTO "key_spend" ("workspace_id", "api_key_id", "guardrail_counters") VALUES (NEW."workspace_id", NEW."id", (
        SELECT array_agg("id") FROM "guardrail_spend"
        WHERE "workspace_id" = NEW."workspace_id" AND "user_id" = NEW."creator_user_id"
    ));
    RETURN NULL;
END $$;

-- Of a key, or of a member where "key" is null. Processes compute it as well (domain/guardrails/guardrail-counter.ts).
CREATE FUNCTION guardrail_counter_id(workspace uuid, key uuid, member text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(substring(sha256(convert_to(
        workspace::text || coalesce(' key ' || key::text, ' member ' || member), 'UTF8')) FOR 16), 'hex')::uuid
$$;

-- Begins to count the spend of a key, or of all keys of a member. Settlements that have begun before are summed up, later ones
-- move the counter themselves: the counters of the keys are locked in between.
CREATE FUNCTION count_guardrail_spend(workspace uuid, key uuid, member text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    counter uuid := guardrail_counter_id(workspace, key, member);
    keys uuid[];
    latest date := spend_day('infinity');
BEGIN
    IF EXISTS (SELECT FROM guardrail_spend AS known WHERE known.workspace_id = workspace AND known.id = counter) THEN
        RETURN;
    END IF;
    keys := ARRAY(SELECT found.id FROM api_keys AS found WHERE found.workspace_id = workspace
        AND (found.id = key OR found.creator_user_id = member));
    PERFORM FROM key_spend AS spend WHERE spend.workspace_id = workspace AND spend.api_key_id = ANY (keys)
        ORDER BY spend.api_key_id FOR UPDATE;
    INSERT INTO guardrail_spend (workspace_id, id, api_key_id, user_id, last_day, total, daily, weekly, monthly,
        byok_total, byok_daily, byok_weekly, byok_monthly)
    SELECT workspace, counter, key, member, coalesce(max(spend.day), '1970-01-01'),
        coalesce(sum(spend.total), 0),
        coalesce(sum(spend.daily) FILTER (WHERE spend.day = newest.day), 0),
        coalesce(sum(spend.weekly) FILTER (WHERE date_trunc('week', spend.day::timestamp) = date_trunc('week', newest.day::timestamp)), 0),
        coalesce(sum(spend.monthly) FILTER (WHERE date_trunc('month', spend.day::timestamp) = date_trunc('month', newest.day::timestamp)), 0),
        coalesce(sum(spend.byok_total), 0),
        coalesce(sum(spend.byok_daily) FILTER (WHERE spend.day = newest.day), 0),
        coalesce(sum(spend.byok_weekly) FILTER (WHERE date_trunc('week', spend.day::timestamp) = date_trunc('week', newest.day::timestamp)), 0),
        coalesce(sum(spend.byok_monthly) FILTER (WHERE date_trunc('month', spend.day::timestamp) = date_trunc('month', newest.day::timestamp)), 0)
    FROM (
        SELECT least(each.last_day, latest) AS day, each.* FROM key_spend AS each
        WHERE each.workspace_id = workspace AND each.api_key_id = ANY (keys)
    ) AS spend CROSS JOIN (
        SELECT max(least(each.last_day, latest)) AS day FROM key_spend AS each
        WHERE each.workspace_id = workspace AND each.api_key_id = ANY (keys)
    ) AS newest;
    UPDATE key_spend AS spend SET guardrail_counters = spend.guardrail_counters || counter
    WHERE spend.workspace_id = workspace AND spend.api_key_id = ANY (keys);
END $$;

DO $migration$
DECLARE
    counters record;
BEGIN
    FOR counters IN SELECT * FROM (VALUES
        ('counted_key', 'key_spend', 'workspace_id = workspace AND api_key_id = holder', 'guardrail_counters'),
        ('guardrail_spend', 'guardrail_spend', 'workspace_id = workspace AND id = holder', 'NULL::uuid[]')
    ) AS tables (kind, name, condition, moves)
    LOOP
        -- As settle_key_spend, and returns the counters that the amounts move as well. Null: none.
        EXECUTE format($template$
CREATE FUNCTION settle_%1$s(workspace uuid, holder uuid, day date, cost numeric, byok_cost numeric, released numeric)
RETURNS uuid[] LANGUAGE plpgsql AS $function$
DECLARE
    latest date;
    moved uuid[];
BEGIN
    IF cost = 0 AND byok_cost = 0 THEN
        UPDATE %2$s SET reserved = greatest(reserved - released, 0) WHERE %3$s;
        RETURN NULL;
    END IF;
    -- Mostly: all windows go on.
    UPDATE %2$s SET
        reserved = greatest(reserved - released, 0),
        total = total + cost,
        daily = daily + cost,
        weekly = weekly + cost,
        monthly = monthly + cost,
        byok_total = byok_total + byok_cost,
        byok_daily = byok_daily + byok_cost,
        byok_weekly = byok_weekly + byok_cost,
        byok_monthly = byok_monthly + byok_cost
    WHERE %3$s AND last_day = day RETURNING %4$s INTO moved;
    IF FOUND THEN
        RETURN moved;
    END IF;
    latest := spend_day('infinity');
    UPDATE %2$s SET
        reserved = greatest(reserved - released, 0),
        last_day = CASE WHEN last_day > latest THEN day ELSE greatest(last_day, day) END,
        total = total + cost,
        daily = settled_window('day', CASE WHEN last_day > latest THEN day ELSE last_day END, day, daily, cost),
        weekly = settled_window('week', CASE WHEN last_day > latest THEN day ELSE last_day END, day, weekly, cost),
        monthly = settled_window('month', CASE WHEN last_day > latest THEN day ELSE last_day END, day, monthly, cost),
        byok_total = byok_total + byok_cost,
        byok_daily = settled_window('day', CASE WHEN last_day > latest THEN day ELSE last_day END, day, byok_daily,
            byok_cost),
        byok_weekly = settled_window('week', CASE WHEN last_day > latest THEN day ELSE last_day END, day, byok_weekly,
            byok_cost),
        byok_monthly = settled_window('month', CASE WHEN last_day > latest THEN day ELSE last_day END, day, byok_monthly,
            byok_cost)
    WHERE %3$s RETURNING %4$s INTO moved;
    RETURN moved;
END $function$ $template$, counters.kind, counters.name, counters.condition, counters.moves);
    END LOOP;
END $migration$;

-- As acquire_key_lease. The limit is the one of the guardrail that is assigned to the counter's key or member now.
CREATE FUNCTION acquire_guardrail_lease(workspace uuid, holder uuid, process uuid, day date, needed numeric, wanted numeric,
    seconds integer, is_held boolean,
    OUT granted numeric, OUT available numeric, OUT unspent numeric, OUT is_gone boolean, OUT caps json)
LANGUAGE plpgsql AS $$
DECLARE
    counter record;
    today date := spend_day(day);
    latest date := spend_day('infinity');
BEGIN
    granted := 0;
    PERFORM FROM spend_leases AS lease WHERE lease.workspace_id = workspace
        AND lease.holder_id = acquire_guardrail_lease.holder AND lease.process_id = process FOR UPDATE;
    is_gone := is_held AND NOT FOUND;
    SELECT api_key_id, user_id, last_day, reserved, daily, weekly, monthly, byok_daily, byok_weekly, byok_monthly
        INTO counter FROM guardrail_spend WHERE workspace_id = workspace AND id = holder FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF counter.last_day > latest THEN
        UPDATE guardrail_spend SET last_day = today WHERE workspace_id = workspace AND id = holder;
        counter.last_day := today;
    END IF;
    SELECT coalesce(json_agg(json_build_object('window', guardrail.limit_reset, 'limit', guardrail.limit_amount::text,
            'include_byok', guardrail.include_byok_in_budgets)), '[]') INTO caps
        FROM guardrail_assignments AS assignment
        JOIN guardrails AS guardrail ON guardrail.workspace_id = assignment.workspace_id AND guardrail.id = assignment.guardrail_id
        WHERE assignment.workspace_id = workspace AND guardrail.limit_amount IS NOT NULL
            AND (assignment.api_key_id = counter.api_key_id OR assignment.user_id = counter.user_id);
    SELECT min(cap."limit"
        - CASE WHEN date_trunc(unit, counter.last_day::timestamp) < date_trunc(unit, today::timestamp) THEN 0
            WHEN unit = 'day' THEN counter.daily WHEN unit = 'week' THEN counter.weekly ELSE counter.monthly END
        - CASE WHEN NOT cap.include_byok
                OR date_trunc(unit, counter.last_day::timestamp) < date_trunc(unit, today::timestamp) THEN 0
            WHEN unit = 'day' THEN counter.byok_daily WHEN unit = 'week' THEN counter.byok_weekly
            ELSE counter.byok_monthly END)
        INTO unspent
        FROM json_to_recordset(caps) AS cap ("window" text, "limit" numeric, include_byok boolean),
            LATERAL (SELECT CASE cap."window" WHEN 'daily' THEN 'day' WHEN 'weekly' THEN 'week'
                WHEN 'monthly' THEN 'month' END AS unit) AS calendar;
    available := CASE WHEN unspent IS NOT NULL THEN greatest(unspent - counter.reserved, 0) END;
    IF is_gone OR available < needed THEN
        RETURN;
    END IF;
    granted := CASE
        -- No limit any more: the process does not know yet.
        WHEN available IS NULL THEN wanted
        WHEN available >= needed * 1000 THEN greatest(least(wanted, available), trunc(available / 50, 12))
        ELSE least(wanted, available) END;
    UPDATE guardrail_spend SET reserved = reserved + granted WHERE workspace_id = workspace AND id = holder;
    INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
        VALUES (workspace, holder, 'guardrail', process, granted, now() + make_interval(secs => seconds))
        ON CONFLICT (workspace_id, holder_id, process_id)
        DO UPDATE SET amount = spend_leases.amount + excluded.amount, expires_at = excluded.expires_at;
END $$;

-- As before, and for guardrails.
CREATE OR REPLACE FUNCTION acquire_held_lease(kind text, workspace uuid, owner uuid, lease_id uuid, day date, needed numeric,
    wanted numeric, seconds integer, is_held boolean, by_session integer, at_place text, held_seconds integer,
    OUT granted numeric, OUT available numeric, OUT unspent numeric, OUT is_gone boolean, OUT caps json)
LANGUAGE plpgsql AS $$
BEGIN
    CASE kind
        WHEN 'key' THEN SELECT * INTO granted, available, unspent, is_gone, caps
            FROM acquire_key_lease(workspace, owner, lease_id, day, needed, wanted, seconds, is_held);
        WHEN 'guardrail' THEN SELECT * INTO granted, available, unspent, is_gone, caps
            FROM acquire_guardrail_lease(workspace, owner, lease_id, day, needed, wanted, seconds, is_held);
        WHEN 'workspace' THEN SELECT * INTO granted, available, unspent, is_gone, caps
            FROM acquire_workspace_lease(workspace, owner, lease_id, day, needed, wanted, seconds, is_held);
        WHEN 'account' THEN SELECT * INTO granted, available, unspent, is_gone, caps
            FROM acquire_account_lease(workspace, owner, lease_id, day, needed, wanted, seconds, is_held);
    END CASE;
    IF granted > 0 THEN
        UPDATE spend_leases AS lease SET session = by_session, place = at_place,
            held_until = now() + make_interval(secs => held_seconds)
        WHERE lease.workspace_id = workspace AND lease.holder_id = owner AND lease.process_id = lease_id
            AND lease.held_until < now() + make_interval(secs => held_seconds - seconds);
    END IF;
END $$;

-- In the order in which settlements lock the counters of guardrails.
CREATE FUNCTION settle_guardrails(day date, moved spend_change[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    FOR change IN SELECT workspace_id, holder_id, sum(cost) AS cost, sum(byok_cost) AS byok_cost, sum(released) AS released
        FROM unnest(moved) GROUP BY workspace_id, holder_id ORDER BY workspace_id, holder_id
    LOOP
        PERFORM settle_guardrail_spend(change.workspace_id, change.holder_id, day, change.cost, change.byok_cost,
            change.released);
    END LOOP;
END $$;

-- As before, and moves the counters of guardrails: those of the keys whose spend grows, and those of leases. They are locked
-- between the counters of keys and those of workspaces.
CREATE OR REPLACE FUNCTION settle_spend(day date, releases spend_release[], changes spend_change[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    given spend_release;
    change spend_change;
    held numeric;
    counters uuid[];
    counter uuid;
    moved spend_change[];
    counted_on date := CASE WHEN day IS NOT NULL THEN spend_day(day) END;
BEGIN
    FOREACH given IN ARRAY releases LOOP
        UPDATE spend_leases AS lease SET amount = lease.amount - given.amount
        WHERE lease.workspace_id = given.workspace_id AND lease.holder_id = given.holder_id
            AND lease.process_id = given.lease_id AND lease.amount >= given.amount;
        CONTINUE WHEN FOUND;
        SELECT lease.amount INTO held FROM spend_leases AS lease
        WHERE lease.workspace_id = given.workspace_id AND lease.holder_id = given.holder_id
            AND lease.process_id = given.lease_id
        FOR UPDATE;
        UPDATE spend_leases AS lease SET amount = 0
        WHERE lease.workspace_id = given.workspace_id AND lease.holder_id = given.holder_id
            AND lease.process_id = given.lease_id;
        changes[given.change].released := changes[given.change].released - given.amount + coalesce(held, 0);
    END LOOP;
    FOREACH change IN ARRAY changes LOOP
        IF moved IS NOT NULL AND change.holder IN ('workspace', 'account') THEN
            PERFORM settle_guardrails(counted_on, moved);
            moved := NULL;
        END IF;
        CASE change.holder
            WHEN 'key' THEN
                counters := settle_counted_key(change.workspace_id, change.holder_id, counted_on, change.cost,
                    change.byok_cost, change.released);
                IF counters IS NOT NULL THEN
                    FOREACH counter IN ARRAY counters LOOP
                        moved := moved
                            || ROW('guardrail', change.workspace_id, counter, change.cost, change.byok_cost, 0)::spend_change;
                    END LOOP;
                END IF;
            WHEN 'guardrail' THEN moved := moved || change;
            WHEN 'workspace' THEN PERFORM settle_workspace_spend(NULL, change.holder_id, counted_on, change.cost,
                change.byok_cost, change.released);
            WHEN 'account' THEN PERFORM settle_account_spend(NULL, change.holder_id, counted_on, change.cost,
                change.byok_cost, change.released);
        END CASE;
    END LOOP;
    IF moved IS NOT NULL THEN
        PERFORM settle_guardrails(counted_on, moved);
    END IF;
END $$;

-- Its transaction has locked the workspace.
CREATE FUNCTION count_assigned_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count_guardrail_spend(NEW."workspace_id", NEW."api_key_id", NEW."user_id");
    RETURN NULL;
END $$;
CREATE TRIGGER "guardrail_assignments_count" AFTER INSERT ON "guardrail_assignments"
    FOR EACH ROW EXECUTE FUNCTION count_assigned_spend();

SELECT count_guardrail_spend("workspace_id", "api_key_id", "user_id") FROM "guardrail_assignments";
