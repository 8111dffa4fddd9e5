-- The audit log refuses removal as it refuses changes. Only the statement of the retention, which permits itself with a setting
-- of its transaction, removes rows.

CREATE FUNCTION refuse_audit_log_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('signalbox.audit_retention', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is removed by its retention only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "audit_log_never_removed" BEFORE DELETE ON "audit_log"
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_removal();
CREATE TRIGGER "audit_log_never_truncated" BEFORE TRUNCATE ON "audit_log"
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_removal();
