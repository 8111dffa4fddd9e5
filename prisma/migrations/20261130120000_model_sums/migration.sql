-- Sums of the log by key or user with model and provider alone, which the usage page of the console asks for in pairs.
-- They are made of the sums that exist: a second pass over the log would take hours.

-- Processes of the previous version do not know the new tables: their steps change nothing, and those of this version,
-- which name the version of the sums, continue.
CREATE FUNCTION skip_other_sums() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('signalbox.sums', true) IS DISTINCT FROM '2' THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;

LOCK TABLE "usage_rollup", "user_rollup" IN EXCLUSIVE MODE;
-- A step keeps the end of its pass; the begin of a pass sets it.
CREATE TRIGGER "usage_rollup_version" BEFORE UPDATE ON "usage_rollup"
    FOR EACH ROW WHEN (NEW.pass_until = OLD.pass_until) EXECUTE FUNCTION skip_other_sums();
CREATE TRIGGER "user_rollup_version" BEFORE UPDATE ON "user_rollup"
    FOR EACH ROW WHEN (NEW.pass_until = OLD.pass_until) EXECUTE FUNCTION skip_other_sums();

DO $$
DECLARE
    counts CONSTANT text := 'requests, failed_requests, inputs, prompt_tokens, completion_tokens, reasoning_tokens,
        cached_tokens, total_tokens, usage, byok_usage, duration_ms';
    summed CONSTANT text := 'sum(requests), sum(failed_requests), sum(inputs), sum(prompt_tokens), sum(completion_tokens),
        sum(reasoning_tokens), sum(cached_tokens), sum(total_tokens), sum(usage), sum(byok_usage), sum(duration_ms)';
    -- Rows by all dimensions have a status instead.
    failed CONSTANT text := 'coalesce(sum(requests) FILTER (WHERE status >= 400 AND status <> 499), 0)';
    made record;
BEGIN
    -- For the groups and the indexes of millions of rows.
    PERFORM set_config('work_mem', '128MB', true), set_config('maintenance_work_mem', '256MB', true);
    FOR made IN SELECT * FROM (VALUES
        ('usage_key_model_days', 'day', 'usage_key_days', 'api_key_id', NULL),
        ('usage_key_model_weeks', 'week', 'usage_key_days', 'api_key_id', 'last_created_at'),
        ('usage_user_model_days', 'day', 'usage_user_days', 'user_hash', 'user_id'),
        ('usage_user_model_weeks', 'week', 'usage_user_model_days', 'user_hash', 'user_id')
    ) AS tables (name, period, source, id, latest)
    LOOP
        EXECUTE format('CREATE TABLE %I (LIKE %I, model TEXT NOT NULL, provider TEXT NOT NULL)', made.name,
            CASE made.id WHEN 'api_key_id' THEN 'usage_key_day_totals' ELSE 'usage_user_day_totals' END);
        -- Lists of keys sort by the last use.
        IF made.latest = 'last_created_at' THEN
            EXECUTE format('ALTER TABLE %I ADD last_created_at TIMESTAMPTZ(3) NOT NULL', made.name);
        END IF;
        -- Rows of the current period are updated every minute.
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', made.name);
        EXECUTE concat('INSERT INTO ', made.name, ' (',
            concat_ws(', ', 'workspace_id, period, model, provider', made.id, made.latest, counts),
            ') SELECT workspace_id, date_trunc(', quote_literal(made.period), ', period, ''UTC''), model, provider, ',
            concat_ws(', ', made.id, 'max(' || made.latest || ')',
                CASE made.source WHEN 'usage_key_days' THEN replace(summed, 'sum(failed_requests)', failed) ELSE summed END),
            ' FROM ', made.source, ' GROUP BY ', '1, 2, 3, 4, ', made.id);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY (workspace_id, period, %I, model, provider)',
            made.name, made.name || '_pkey', made.id);
        EXECUTE format('CREATE INDEX %I ON %I (period)', made.name || '_period_idx', made.name);
    END LOOP;
END $$;

-- Takes the user out of the sums of an account; the sums stay, as those of calls without a user. Returns the changed rows.
CREATE OR REPLACE FUNCTION erase_user_sums(account uuid, erased text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    sums text;
    changed bigint;
    total bigint := 0;
BEGIN
    FOREACH sums IN ARRAY ARRAY['usage_user_hours', 'usage_user_days', 'usage_user_weeks',
        'usage_user_hour_totals', 'usage_user_day_totals', 'usage_user_week_totals',
        'usage_user_model_days', 'usage_user_model_weeks']
    LOOP
        EXECUTE format('UPDATE %I SET user_id = NULL, user_hash = uuid_send(gen_random_uuid())
            WHERE workspace_id IN (SELECT id FROM workspaces WHERE account_id = $1) AND user_id = $2', sums)
        USING account, erased;
        GET DIAGNOSTICS changed = ROW_COUNT;
        total := total + changed;
    END LOOP;
    RETURN total;
END $$;
