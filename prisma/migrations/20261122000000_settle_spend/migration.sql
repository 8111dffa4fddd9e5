-- Settling, one counter at a time. Functions, and not a part of the statement that appends: a statement whose row another
-- one has just changed begins again on what is there now, and for that sets up all of itself once more for every row. The
-- account's counter is such a row for every process that appends. A function's statement sees what was committed until
-- it began, and one that is this small is set up again at once.
--
-- A version of the service that settles otherwise brings functions of other names: the one before still calls these.

-- A window's sum after an amount of the day: it goes on, begins anew, or (a late commit) keeps what it has.
CREATE FUNCTION settled_window(unit text, last_day date, day date, sum numeric, amount numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN date_trunc(unit, last_day::timestamp) = date_trunc(unit, day::timestamp) THEN sum + amount
        WHEN last_day < day THEN amount
        ELSE sum END
$$;

DO $migration$
DECLARE
    counters record;
BEGIN
    FOR counters IN SELECT * FROM (VALUES
        ('key_spend', 'workspace_id = workspace AND api_key_id = holder'),
        ('workspace_spend', 'workspace_id = holder'),
        ('account_spend', 'account_id = holder')
    ) AS tables (name, condition)
    LOOP
        EXECUTE format($template$
CREATE FUNCTION settle_%1$s(workspace uuid, holder uuid, day date, cost numeric, byok_cost numeric, released numeric)
RETURNS void LANGUAGE plpgsql AS $function$
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
    UPDATE %1$s SET
        reserved = greatest(reserved - released, 0),
        last_day = greatest(last_day, day),
        total = total + cost,
        daily = settled_window('day', last_day, day, daily, cost),
        weekly = settled_window('week', last_day, day, weekly, cost),
        monthly = settled_window('month', last_day, day, monthly, cost),
        byok_total = byok_total + byok_cost,
        byok_daily = settled_window('day', last_day, day, byok_daily, byok_cost),
        byok_weekly = settled_window('week', last_day, day, byok_weekly, byok_cost),
        byok_monthly = settled_window('month', last_day, day, byok_monthly, byok_cost)
    WHERE %2$s;
END $function$ $template$, counters.name, counters.condition);
    END LOOP;
END $migration$;
