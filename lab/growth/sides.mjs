// The two services of the growth benchmark, one on an empty and one on a filled database of the same server.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../scripts/migrate.mjs';
import { withClient, withDatabase } from '../../scripts/support/database-connection.mjs';
import { readFileIfPresent } from '../../scripts/support/files.mjs';
import { sleep } from '../../scripts/support/processes.mjs';
import { ScriptError } from '../../scripts/support/run-command.mjs';
import {
  bringToRest,
  fill,
  listOwnKeyHashes,
  makeOwnWorkspaces,
  SLOTS,
  untilSummedUp,
} from '../../test/support/database/growth-fill.mjs';
import { callBodies } from '../bench/load/known-vectors.mjs';
import { createMigratedDatabase, startService } from '../bench/testbed/service.mjs';
import { cpuSeconds } from '../bench/testbed/usage.mjs';
import { measureQuestions } from './console-questions.mjs';

/** A moment of another program's work would end the run. */
const ENVIRONMENT = { MAX_EVENT_LOOP_DELAY_MS: '0' };
const MODEL = 'openai/text-embedding-3-large';
const ROLLUP_TIMEOUT_MS = 3_600_000;

export const CALL = 'POST /embeddings';
export const CREATION = 'POST /observability/destinations';

const authorized = (key) => ({ headers: { authorization: `Bearer ${key}` } });

/** One of the two services, with the parameters of its calls. */
class Side {
  #freePlaces;
  #nowhere;
  #hashes;

  constructor(service, { sinkOrigin, path }, workspaceIds, hashes) {
    this.service = service;
    /** The address of its deliveries. */
    this.path = path;
    this.#nowhere = `${sinkOrigin}/nowhere/`;
    this.#hashes = hashes;
    this.#freePlaces = workspaceIds.flatMap((id) => Array.from({ length: SLOTS }, () => id));
  }

  jobOf(operation, calls) {
    const { baseUrl, managementKey } = this.service;
    switch (operation) {
      case CALL:
        return this.embeddingsJob(1);
      case 'GET /keys/{hash}': {
        const hash = this.#hashes.shift();
        this.#hashes.push(hash);
        return { url: `${baseUrl}/keys/${hash}`, method: 'GET', bodies: [''], ...authorized(managementKey) };
      }
      default:
        return {
          url: `${baseUrl}/observability/destinations`,
          status: 201,
          bodies: this.#freePlaces.splice(0, calls).map((workspaceId) =>
            JSON.stringify({
              type: 'webhook',
              name: 'Growth',
              // An address instead of a name: a name server has its own pace.
              config: { url: this.#nowhere },
              workspace_id: workspaceId,
            }),
          ),
          ...authorized(managementKey),
        };
    }
  }

  async measureQuestions({ databasePid, progress }) {
    const hashes = this.#hashes;
    const { data } = await this.service.manage('GET', `/keys/${hashes[0]}`);
    const { manage, pid } = this.service;
    const countCpu = () => cpuSeconds(pid) + cpuSeconds(databasePid);
    return measureQuestions({ manage, countCpu, progress }, { hashes, workspace: data.workspace_id });
  }

  embeddingsJob(inputs) {
    return {
      url: `${this.service.baseUrl}/embeddings`,
      bodies: callBodies({ inputs, format: 'base64', dimensions: 1536 }, MODEL),
      checksVectors: true,
      ...authorized(this.service.key),
    };
  }
}

/** Says of the database in its directory that it is filled, and how far. */
const markOf = (directory) => join(directory, 'filled.json');

/** Whether the directory has a database of these sizes. */
function isKept({ directory, sizes }) {
  const mark = directory === undefined ? undefined : readFileIfPresent(markOf(directory));
  if (mark === undefined) return false;
  if (mark !== JSON.stringify(sizes))
    throw new ScriptError(`${directory} is filled with ${mark}. Ask for these sizes, or choose another one.`);
  return true;
}

/** Makes the directory of a kept database. Throws where it has one of other sizes. */
export function prepareDirectory(plan) {
  // The account that runs the database for root must be able to pass through.
  mkdirSync(plan.directory, { recursive: true, mode: 0o711 });
  isKept(plan);
}

/** `workspaces`: those of its own for the destinations that it creates. */
export async function openSide(testbed, plan, { name, isFilled, workspaces }) {
  const { server, signal, progress, upstreamOrigin } = testbed;
  const isReused = isFilled && isKept(plan);
  const open = (databaseUrl) =>
    startService({ databaseUrl, upstreamOrigin, environment: ENVIRONMENT, signal });
  const path = `/${name}/`;
  const create = async () => {
    await withClient(server.url, (client) => client.query(`DROP DATABASE IF EXISTS "${name}"`));
    const url = await createMigratedDatabase(server, { name, signal });
    // The first start creates the account.
    const first = await open(url);
    await first.createDestination('webhook', { url: testbed.sinkOrigin + path });
    await first.stop();
    if (isFilled) await fill(url, plan.sizes, progress);
    return url;
  };
  const databaseUrl = isReused ? withDatabase(server.url, name) : await create();
  if (isReused)
    await progress.step('Migrating the kept database', () =>
      migrate({ databaseUrl, log: () => undefined, signal }),
    );
  const workspaceIds = await makeOwnWorkspaces(databaseUrl, workspaces);
  const service = await open(databaseUrl);
  testbed.onClose(service.stop);
  return new Side(
    service,
    { sinkOrigin: testbed.sinkOrigin, path },
    workspaceIds,
    await listOwnKeyHashes(databaseUrl, 50),
  );
}

/** The rest of the filling must not be measured with the calls. */
export async function waitForRest({ progress, signal }, { directory, sizes }, sides) {
  await progress.step('The logs are summed up', async () => {
    for (const { service } of sides)
      await untilSummedUp(service.databaseUrl, signal, { timeout: ROLLUP_TIMEOUT_MS, pause: sleep });
  });
  await progress.step('The databases are vacuumed and on the disk', async () => {
    for (const { service } of sides) await bringToRest(service.databaseUrl);
  });
  if (directory !== undefined) writeFileSync(markOf(directory), JSON.stringify(sizes));
}
