#!/bin/sh
# At the first start of the database: the role of the service owns its database and is no superuser. The superuser gets no
# password, so that it signs in from within the container only: docker compose exec postgres psql -U postgres
set -eu
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" -U postgres <<'SQL'
CREATE ROLE signalbox LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE signalbox OWNER signalbox;
ALTER ROLE postgres PASSWORD NULL;
SQL
