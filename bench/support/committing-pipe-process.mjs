// The committing pipe: a bare pipe in plain code that commits every call before its answer leaves. A call is an id, a
// time and a length, in batches like the service's.
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { MicroBatcher } from '../../dist/concurrency/micro-batcher.js';
import { connect } from '../../scripts/support/database-connection.mjs';
import { servePipe } from './pipe.mjs';

const TABLE = 'piped_calls';
const INSERT = {
  name: 'insert',
  text: `INSERT INTO ${TABLE} SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::integer[])`,
};
// Those of the service's log.
const LIMITS = {
  maxBatch: 500,
  maxInFlight: 1,
  maxWaiting: 20_000,
  isFaultOfOneItem: () => false,
  overflow: () => new Error('too many calls wait for the database'),
};

const client = await connect(process.env.DATABASE_URL);
await client.query(`CREATE TABLE ${TABLE} (id uuid PRIMARY KEY, created_at timestamptz, bytes integer)`);

const batcher = new MicroBatcher(async (calls) => {
  const column = (name) => calls.map((call) => call[name]);
  await client.query({ ...INSERT, values: [column('id'), column('createdAt'), column('bytes')] });
  return [];
}, LIMITS);

servePipe(async (answer, outgoing) => {
  const body = await buffer(answer);
  await batcher.add({ id: randomUUID(), createdAt: new Date(), bytes: body.length });
  outgoing.writeHead(answer.statusCode, answer.headers);
  outgoing.end(body);
});
