// The committing pipe: the bare pipe, plainly written on, with every call on the disk before its answer leaves. What it
// commits is an id, a time and a length; what waits goes in one statement, as in the service.
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { connect } from '../../scripts/support/database-connection.mjs';
import { servePipe } from './pipe.mjs';

const TABLE = 'piped_calls';
const INSERT = {
  name: 'insert',
  text: `INSERT INTO ${TABLE} SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::integer[])`,
};

const client = await connect(process.env.DATABASE_URL);
await client.query(`CREATE TABLE ${TABLE} (id uuid PRIMARY KEY, created_at timestamptz, bytes integer)`);

let waiting = [];
let isCommitting = false;

async function commitWaiting() {
  isCommitting = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    const column = (name) => batch.map((call) => call[name]);
    await client.query({ ...INSERT, values: [column('id'), column('createdAt'), column('bytes')] });
    for (const { resolve } of batch) resolve();
  }
  isCommitting = false;
}

function commit(bytes) {
  return new Promise((resolve) => {
    waiting.push({ id: randomUUID(), createdAt: new Date(), bytes, resolve });
    if (!isCommitting) void commitWaiting();
  });
}

servePipe(async (answer, outgoing) => {
  const body = await buffer(answer);
  await commit(body.length);
  outgoing.writeHead(answer.statusCode, answer.headers);
  outgoing.end(body);
});
