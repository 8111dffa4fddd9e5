-- Who changed what in an account: one row for every change, written in the transaction of the change.

CREATE TABLE "audit_log" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "workspace_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "actor_hash" CHAR(64) NOT NULL,
    "actor_label" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "user_agent" TEXT,
    "action" TEXT NOT NULL,
    "object_type" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("account_id","id")
);

CREATE INDEX "audit_log_account_id_object_type_object_id_id_idx" ON "audit_log"("account_id", "object_type", "object_id", "id");

ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE NO ACTION;

-- What has been recorded stays as it is.
CREATE FUNCTION refuse_audit_log_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is never changed' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "audit_log_never_changed" BEFORE UPDATE ON "audit_log"
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_update();
