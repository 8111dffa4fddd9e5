// Before each start of the composition: gives the service a role that owns its database and is no superuser. The superuser
// loses its password with that: it signs in from within the database's container only.
import pg from 'pg';

const { DATABASE_URL, SUPERUSER_URL } = process.env;
// Authentication fails, or the database is missing: the role or its database has not been created.
const NOT_CREATED = new Set(['28P01', '28000', '3D000']);

async function connect(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

/** The role of an earlier composition signs in as well, and stays as it is. */
async function isCreated() {
  try {
    await (await connect(DATABASE_URL)).end();
    return true;
  } catch (error) {
    if (NOT_CREATED.has(error.code)) return false;
    throw error;
  }
}

if (!(await isCreated())) {
  const { username, password, pathname } = new URL(DATABASE_URL);
  const superuser = await connect(SUPERUSER_URL);
  const has = async (query, name) => (await superuser.query(query, [name])).rowCount > 0;
  const [role, database] = [username, pathname.slice(1)].map((name) => superuser.escapeIdentifier(name));
  if (!(await has('SELECT FROM pg_roles WHERE rolname = $1', username)))
    await superuser.query(`CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE`);
  await superuser.query(`ALTER ROLE ${role} PASSWORD ${superuser.escapeLiteral(password)}`);
  if (!(await has('SELECT FROM pg_database WHERE datname = $1', pathname.slice(1))))
    await superuser.query(`CREATE DATABASE ${database} OWNER ${role}`);
  await superuser.query('ALTER ROLE CURRENT_USER PASSWORD NULL');
  await superuser.end();
  console.log(`created the role ${username} and its database`);
}
