// A rolling upgrade: the version before the newest migration serves while the database is migrated, then beside the new
// one, and then goes.
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../../replicas/replica.js';
import { startLoad } from '../../replicas/load.js';
import { inLab, check, Skipped } from '../../replicas/scenario.js';
import type { Scenario, ScenarioContext } from '../../replicas/scenario.js';

const LOAD = { clients: 8, sizes: [1, 4], pause: 10 };
const SIDE_BY_SIDE_MS = 4_000;

/** The commit that came before the newest migration: the last one if that is not committed yet. */
async function findOldCommit({ run }: ScenarioContext, newest: string): Promise<string> {
  const git = (...parameters: string[]) => run('git', ['-C', REPOSITORY, ...parameters]);
  try {
    const added = (await git('log', '--format=%H', '-1', '--', `prisma/migrations/${newest}`)).trim();
    return (await git('rev-parse', added === '' ? 'HEAD' : `${added}^`)).trim();
  } catch (error) {
    throw new Skipped(`the history is not here: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** A checkout of the commit, built with the packages of this one. */
async function buildCommit(context: ScenarioContext, commit: string): Promise<string> {
  const root = join(context.directory, 'previous');
  await mkdir(root);
  const archive = join(context.directory, 'previous.tar');
  await context.run('git', ['-C', REPOSITORY, 'archive', `--output=${archive}`, commit]);
  await context.run('tar', ['-xf', archive, '-C', root]);
  // Nothing that installs may run in there: it would empty the folder that this leads to.
  for (const packages of ['node_modules', 'console/node_modules']) {
    if (existsSync(dirname(join(root, packages))))
      await symlink(join(REPOSITORY, packages), join(root, packages));
  }
  try {
    await context.run('npm', ['run', 'build'], { directory: root });
  } catch (error) {
    throw new Skipped(
      `${commit.slice(0, 8)} cannot be built with the packages of today: ${(error as Error).message}`,
    );
  }
  return root;
}

export const rollingUpgrade: Scenario = {
  name: 'Rolling upgrade from before the newest migration',
  async run(context) {
    const migrations = await readdir(join(REPOSITORY, 'prisma/migrations'));
    const newest =
      migrations
        .filter((name) => /^\d/.test(name))
        .toSorted()
        .at(-1) ?? '';
    const commit = await findOldCommit(context, newest);
    const root = await buildCommit(context, commit);
    context.say(`the version before ${newest} is ${commit.slice(0, 8)}`);
    const migrateOld = async (databaseUrl: string): Promise<void> => {
      await context.run(process.execPath, [join(root, 'scripts/migrate.mjs')], {
        environment: { DATABASE_URL: databaseUrl },
        directory: root,
      });
    };
    const old = { replicas: 1, replicaOptions: { root }, migrate: migrateOld };
    return inLab(context, { name: 'upgrade', ...old }, async (lab) => {
      const load = startLoad(lab, LOAD);
      await lab.wait(SIDE_BY_SIDE_MS / 2);
      await lab.cluster.migrate(lab.databaseUrl);
      const seenBefore = load.report.seen.length;
      lab.replicas.push(await lab.startReplica({ root: REPOSITORY }));
      await lab.untilReady();
      await lab.wait(SIDE_BY_SIDE_MS);
      const [previous] = lab.replicas.splice(0, 1);
      await previous?.stop();
      const seenBeside = load.report.seen.length - seenBefore;
      await lab.wait(SIDE_BY_SIDE_MS / 2);
      await load.stop();
      const { broken, rejections } = load.report;
      // A client whose kept connection is closed while it writes sees a broken call: that is not a failure of the service.
      const problems = rejections.size > 0 ? [`calls were refused: ${JSON.stringify([...rejections])}`] : [];
      return check(lab, [load.report], {
        problems,
        remarks: [
          `${commit.slice(0, 8)} and this version beside each other: ${seenBeside} answers, ${broken} broken calls`,
          `migrated under load: ${newest}`,
        ],
      });
    });
  },
};
