-- The models that providers list for the credential of the operator, and when each provider was last asked. Names enable nothing by
-- themselves. The newest names of each provider are kept.
CREATE TABLE "provider_models" (
    "provider" TEXT NOT NULL,
    "upstream_model" TEXT NOT NULL,
    "first_seen" TIMESTAMPTZ(3) NOT NULL,
    "last_seen" TIMESTAMPTZ(3) NOT NULL,
    -- As the provider states them; see ModelFacts.
    "facts" JSONB NOT NULL,

    CONSTRAINT "provider_models_pkey" PRIMARY KEY ("provider", "upstream_model")
);

CREATE TABLE "provider_model_lists" (
    "provider" TEXT NOT NULL,
    -- The claim of a process that asks: no other asks before it is old.
    "asked_at" TIMESTAMPTZ(3) NOT NULL,
    -- Null: it has never answered.
    "answered_at" TIMESTAMPTZ(3),
    -- Why the newest request has no answer; null: it has one.
    "problem" TEXT,

    CONSTRAINT "provider_model_lists_pkey" PRIMARY KEY ("provider")
);
