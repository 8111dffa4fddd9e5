-- What calls that are appended together change of leases and counters, by one function. The caller sums it up, which
-- costs it little; in the statement that appends, joining, sorting and grouping took a third of a single call's time.
--
-- A version of the service that settles otherwise brings functions and types of other names: the one before still calls
-- these.

-- A part of a lease that is given back; "change" is the place, counted from 1, of its counter's change in "changes".
CREATE TYPE "spend_release" AS (
    "change" INTEGER,
    "workspace_id" UUID,
    "holder_id" UUID,
    "lease_id" UUID,
    "amount" NUMERIC
);
-- What a counter grows by, and what of it is reserved no more.
CREATE TYPE "spend_change" AS (
    "holder" TEXT,
    "workspace_id" UUID,
    "holder_id" UUID,
    "cost" NUMERIC,
    "byok_cost" NUMERIC,
    "released" NUMERIC
);

-- Both lists come in the order in which their rows are locked. Of a lease what is really there is taken: a process that
-- was away so long that its lease was swept has none left.
CREATE FUNCTION settle_spend(day date, releases spend_release[], changes spend_change[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    given spend_release;
    change spend_change;
    held numeric;
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
            WHEN 'key' THEN PERFORM settle_key_spend(change.workspace_id, change.holder_id, day, change.cost,
                change.byok_cost, change.released);
            WHEN 'workspace' THEN PERFORM settle_workspace_spend(NULL, change.holder_id, day, change.cost,
                change.byok_cost, change.released);
            WHEN 'account' THEN PERFORM settle_account_spend(NULL, change.holder_id, day, change.cost,
                change.byok_cost, change.released);
        END CASE;
    END LOOP;
END $$;
