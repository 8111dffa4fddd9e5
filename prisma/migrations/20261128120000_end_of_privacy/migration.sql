-- The end of the last time that the destination was private: contents of calls before it never reach the history, however late
-- they are copied. A trigger, because processes of the version before switch privacy mode off too. The seconds cover clocks
-- that differ: calls have the time of their process.
ALTER TABLE "destinations" ADD COLUMN "private_until" TIMESTAMPTZ(3);

CREATE FUNCTION keep_end_of_privacy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.private_until := clock_timestamp() + interval '5 seconds';
    RETURN NEW;
END $$;

CREATE TRIGGER "destinations_keep_end_of_privacy" BEFORE UPDATE OF "privacy_mode" ON "destinations"
    FOR EACH ROW WHEN (OLD.privacy_mode AND NOT NEW.privacy_mode) EXECUTE FUNCTION keep_end_of_privacy();
