-- A lease lasts as long as the calls that hold its money, and what a key leaves unpaid in a day is counted.

-- The advisory lock of the process, and its place among the replicas, which one process after another has. The money of a
-- lease is not free before "held_until", unless its process has died: its lock is gone and its place taken over. Leases of
-- the version before have none of these, and lapse with "expires_at" as before.
ALTER TABLE "spend_leases"
    ADD COLUMN "session" INTEGER,
    ADD COLUMN "place" TEXT,
    ADD COLUMN "held_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '-infinity';

-- USD of the UTC day that providers billed and no caller pays.
ALTER TABLE "key_spend"
    ADD COLUMN "unpaid_day" DATE NOT NULL DEFAULT '1970-01-01'::date,
    ADD COLUMN "unpaid" DECIMAL(24,12) NOT NULL DEFAULT 0;
CREATE INDEX "key_spend_unpaid_idx" ON "key_spend" ("workspace_id", "unpaid_day") WHERE "unpaid" > 0;

-- As acquire_key_lease and its like, and names the process. "held_seconds" is the longest that calls hold a granted amount:
-- the row is written again only when "seconds" of it have passed.
CREATE FUNCTION acquire_held_lease(kind text, workspace uuid, owner uuid, lease_id uuid, day date, needed numeric,
    wanted numeric, seconds integer, is_held boolean, by_session integer, at_place text, held_seconds integer,
    OUT granted numeric, OUT available numeric, OUT unspent numeric, OUT is_gone boolean, OUT caps json)
LANGUAGE plpgsql AS $$
BEGIN
    CASE kind
        WHEN 'key' THEN SELECT * INTO granted, available, unspent, is_gone, caps
            FROM acquire_key_lease(workspace, owner, lease_id, day, needed, wanted, seconds, is_held);
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

-- As settle_spend, for calls: "unpaid" has an amount for each change, or is empty. A key that reaches "most_unpaid" is
-- announced with its workspace. A call whose lease has lapsed is rejected (SB002): its money may be another call's.
CREATE FUNCTION settle_calls(day date, releases spend_release[], changes spend_change[], unpaid numeric[],
    most_unpaid numeric) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    given spend_release;
    change spend_change;
    amount numeric;
    unpaid_today numeric;
    counted_on date := spend_day(day);
BEGIN
    FOREACH given IN ARRAY releases LOOP
        UPDATE spend_leases AS lease SET amount = lease.amount - given.amount
        WHERE lease.workspace_id = given.workspace_id AND lease.holder_id = given.holder_id
            AND lease.process_id = given.lease_id AND lease.amount >= given.amount;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a lease has lapsed' USING ERRCODE = 'SB002', DETAIL = given.lease_id;
        END IF;
    END LOOP;
    PERFORM settle_spend(day, '{}', changes);
    FOR place IN 1 .. cardinality(unpaid) LOOP
        amount := unpaid[place];
        CONTINUE WHEN amount = 0;
        change := changes[place];
        UPDATE key_spend AS counter SET unpaid_day = greatest(counter.unpaid_day, counted_on),
            unpaid = CASE WHEN counter.unpaid_day > counted_on THEN counter.unpaid
                WHEN counter.unpaid_day = counted_on THEN counter.unpaid + amount ELSE amount END
        WHERE counter.workspace_id = change.workspace_id AND counter.api_key_id = change.holder_id
        RETURNING CASE WHEN counter.unpaid_day = counted_on THEN counter.unpaid END INTO unpaid_today;
        IF unpaid_today >= most_unpaid AND unpaid_today - amount < most_unpaid THEN
            PERFORM pg_notify('spend_terms_changed', change.workspace_id::text);
        END IF;
    END LOOP;
END $$;
