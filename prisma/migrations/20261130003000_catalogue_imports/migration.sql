-- Proposals of `npm run catalogue:update --post`: prices of maintained lists beside those in force. Nothing of them holds until a person
-- applies it, which makes revisions of the rank `imported`.
CREATE TABLE "catalogue_imports" (
    "id" UUID NOT NULL,
    -- The names of the lists.
    "lists" JSONB NOT NULL,
    -- SHA-256 of lists and proposals.
    "content_hash" TEXT NOT NULL,
    -- open | applied | discarded
    "state" TEXT NOT NULL,
    -- The label of the key.
    "actor" TEXT NOT NULL,
    "proposals" JSONB NOT NULL,
    -- The version that each applied proposal has become, by its number.
    "applied" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "catalogue_imports_pkey" PRIMARY KEY ("id")
);
