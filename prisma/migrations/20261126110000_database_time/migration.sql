-- The database's clock decides which day spend belongs to, and the database's own rows decide what a lease grants.

-- The time of the service. Every process follows it (heartbeats of the notification connection read it).
CREATE OR REPLACE FUNCTION service_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() $$;

-- The day that spend of `day` counts on, at `moment`: a call that is recorded now began within the last hour, and clocks
-- of processes agree to within minutes. A day outside of these bounds comes from a wrong clock and moves to the nearest.
CREATE OR REPLACE FUNCTION spend_day_at(moment timestamptz, day date) RETURNS date LANGUAGE sql IMMUTABLE AS $$
    SELECT least(
        greatest(day, ((moment AT TIME ZONE 'UTC') - interval '1 hour')::date),
        ((moment AT TIME ZONE 'UTC') + interval '5 minutes')::date
    )
$$;
CREATE OR REPLACE FUNCTION spend_day(day date) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT spend_day_at(service_now(), day)
$$;

-- A window whose day lies ahead of the calendar has begun by a wrong clock. Its sums count as those of the current day:
-- the money is spent, and the window ends with the day, week or month that it counts in from now on.
UPDATE "key_spend" SET "last_day" = spend_day('infinity') WHERE "last_day" > spend_day('infinity');
UPDATE "workspace_spend" SET "last_day" = spend_day('infinity') WHERE "last_day" > spend_day('infinity');
UPDATE "account_spend" SET "last_day" = spend_day('infinity') WHERE "last_day" > spend_day('infinity');

DO $migration$
DECLARE
    counters record;
BEGIN
    FOR counters IN SELECT * FROM (VALUES
        ('key', 'key_spend', 'workspace_id = workspace AND api_key_id = holder', $limits$
    SELECT coalesce(json_agg(json_build_object('window', coalesce("limit_reset", 'total'),
            'limit', "limit_amount"::text, 'include_byok', "include_byok_in_limit")), '[]') INTO caps
        FROM "api_keys" WHERE "workspace_id" = workspace AND "id" = holder AND "limit_amount" IS NOT NULL;
        $limits$),
        ('workspace', 'workspace_spend', 'workspace_id = holder', $limits$
    SELECT coalesce(json_agg(json_build_object(
            'window', CASE budget."interval" WHEN 'lifetime' THEN 'total' ELSE budget."interval" END,
            'limit', budget."limit_amount"::text, 'include_byok', owner."include_byok_in_budgets")), '[]') INTO caps
        FROM "workspaces" AS owner JOIN "workspace_budgets" AS budget ON budget."workspace_id" = owner."id"
        WHERE owner."id" = holder;
        $limits$),
        ('account', 'account_spend', 'account_id = holder', $limits$
    SELECT coalesce(json_agg(json_build_object('window', 'total', 'limit', "credits"::text, 'include_byok', false)), '[]')
        INTO caps FROM "accounts" WHERE "id" = holder AND "credits" IS NOT NULL;
        $limits$)
    ) AS tables (kind, name, condition, limits)
    LOOP
        -- As before, but for a stored day that lies ahead of the calendar.
        EXECUTE format($template$
CREATE OR REPLACE FUNCTION settle_%1$s(workspace uuid, holder uuid, day date, cost numeric, byok_cost numeric, released numeric)
RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
    latest date;
BEGIN
    IF cost = 0 AND byok_cost = 0 THEN
        UPDATE %1$s SET reserved = greatest(reserved - released, 0) WHERE %2$s;
        RETURN;
    END IF;
    -- Mostly: all windows go on.
    UPDATE %1$s SET
        reserved = greatest(reserved - released, 0),
        total = total + cost,
        daily = daily + cost,
        weekly = weekly + cost,
        monthly = monthly + cost,
        byok_total = byok_total + byok_cost,
        byok_daily = byok_daily + byok_cost,
        byok_weekly = byok_weekly + byok_cost,
        byok_monthly = byok_monthly + byok_cost
    WHERE %2$s AND last_day = day;
    IF FOUND THEN
        RETURN;
    END IF;
    latest := spend_day('infinity');
    UPDATE %1$s SET
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
    WHERE %2$s;
END $function$ $template$, counters.name, counters.condition);

        -- Grants at least what is needed or nothing, and a fiftieth of what is left where that is far more. Answers what
        -- was granted, what is free of the tightest limit, what is unspent of it (reservations not counted), the limits
        -- themselves, and whether the lease is gone: swept, although its process holds something of it. Such a one is not
        -- made again: what calls still hold of it would be taken from it.
        --
        -- A function, because the limits are read by a statement of their own once the counter is locked: what is granted
        -- is never of limits that had changed before.
        EXECUTE format($template$
CREATE OR REPLACE FUNCTION acquire_%1$s_lease(workspace uuid, holder uuid, process uuid, day date, needed numeric, wanted numeric,
    seconds integer, is_held boolean,
    OUT granted numeric, OUT available numeric, OUT unspent numeric, OUT is_gone boolean, OUT caps json)
LANGUAGE plpgsql AS $function$
DECLARE
    counter record;
    today date := spend_day(day);
    latest date := spend_day('infinity');
BEGIN
    granted := 0;
    PERFORM FROM spend_leases AS lease WHERE lease.workspace_id = workspace
        AND lease.holder_id = acquire_%1$s_lease.holder AND lease.process_id = process FOR UPDATE;
    is_gone := is_held AND NOT FOUND;
    SELECT last_day, reserved, total, daily, weekly, monthly, byok_total, byok_daily, byok_weekly, byok_monthly
        INTO counter FROM %2$s WHERE %3$s FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF counter.last_day > latest THEN
        UPDATE %2$s SET last_day = today WHERE %3$s;
        counter.last_day := today;
    END IF;
    %4$s
    -- A window goes on while its newest day is in it, or ahead of it by the time that clocks differ.
    SELECT min(cap."limit"
        - CASE WHEN unit IS NULL THEN counter.total
            WHEN date_trunc(unit, counter.last_day::timestamp) < date_trunc(unit, today::timestamp) THEN 0
            WHEN unit = 'day' THEN counter.daily WHEN unit = 'week' THEN counter.weekly ELSE counter.monthly END
        - CASE WHEN NOT cap.include_byok THEN 0 WHEN unit IS NULL THEN counter.byok_total
            WHEN date_trunc(unit, counter.last_day::timestamp) < date_trunc(unit, today::timestamp) THEN 0
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
        -- No limit any more: the process has not heard of it yet.
        WHEN available IS NULL THEN wanted
        WHEN available >= needed * 1000 THEN greatest(least(wanted, available), trunc(available / 50, 12))
        ELSE least(wanted, available) END;
    UPDATE %2$s SET reserved = reserved + granted WHERE %3$s;
    INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
        VALUES (workspace, holder, '%1$s', process, granted, now() + make_interval(secs => seconds))
        ON CONFLICT (workspace_id, holder_id, process_id)
        DO UPDATE SET amount = spend_leases.amount + excluded.amount, expires_at = excluded.expires_at;
END $function$ $template$, counters.kind, counters.name, counters.condition, counters.limits);
    END LOOP;
END $migration$;

-- As before, but that the day is one that the calendar knows.
CREATE OR REPLACE FUNCTION settle_spend(day date, releases spend_release[], changes spend_change[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    given spend_release;
    change spend_change;
    held numeric;
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
        CASE change.holder
            WHEN 'key' THEN PERFORM settle_key_spend(change.workspace_id, change.holder_id, counted_on, change.cost,
                change.byok_cost, change.released);
            WHEN 'workspace' THEN PERFORM settle_workspace_spend(NULL, change.holder_id, counted_on, change.cost,
                change.byok_cost, change.released);
            WHEN 'account' THEN PERFORM settle_account_spend(NULL, change.holder_id, counted_on, change.cost,
                change.byok_cost, change.released);
        END CASE;
    END LOOP;
END $$;
