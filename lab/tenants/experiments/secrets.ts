import { brokenRules } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, createWorkspace, embed, FREE_MODEL, statusesOf, webhook } from '../requests.js';
import { startAttackerServer } from '../servers.js';
import type { AttackerServer } from '../servers.js';
import { inTenantLab } from '../tenant-lab.js';

export const foreignGenerations: Experiment = {
  name: 'foreign-generations',
  title:
    "An inference key asks for another key's generation, of its own workspace and of another. It sees its own alone.",
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `foreign_${label}`, root }, async (lab) => {
      // Contents are stored for as long as a destination waits for them.
      await lab.operate('POST', '/observability/destinations', webhook('http://127.0.0.1:9/'));
      const { managementKey, apiKey } = lab.attacker;
      const sibling = await createKey(lab, {}, managementKey);
      const workspace = await createWorkspace(lab, 'another', managementKey);
      const foreign = await createKey(lab, { workspace_id: workspace }, managementKey);
      const made = await embed(lab, apiKey, { model: FREE_MODEL, input: 'a secret input' });
      const id = String(made.headers['x-generation-id'] ?? '');
      const readers = {
        'the key itself': apiKey,
        'another key': sibling.key,
        'a key of another workspace': foreign.key,
      };
      const figures: Record<string, string> = {};
      const problems: string[] = [];
      for (const [who, key] of Object.entries(readers)) {
        const record = await lab.call('GET', `/generation?id=${id}`, { key });
        const content = await lab.call('GET', `/generation/content?id=${id}`, { key });
        const isSeen = content.text.includes('a secret input');
        figures[`${who}: record, content`] =
          `${record.status}, ${content.status}${isSeen ? ', input seen' : ''}`;
        const isOwn = key === apiKey;
        problems.push(
          ...brokenRules(
            [!isOwn && (record.status === 200 || isSeen), `${who} reads the generation`],
            [isOwn && record.status !== 200, 'a key does not read its own generation'],
          ),
        );
      }
      return { figures, problems };
    }),
};

const SECRET = 'a-secret-of-this-account-only';

export const movedDestination: Experiment = {
  name: 'moved-destination',
  title:
    'A management key points a destination whose secrets it cannot read at a receiver of its own, and tests it. The change ' +
    'of host asks for the secrets.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `moved_${label}`, root }, async (lab) => {
      const [first, second] = [
        await startAttackerServer({ answersAfter: 0 }),
        await startAttackerServer({ answersAfter: 0 }),
      ];
      // A port is part of the host: the same machine under another one is another receiver.
      const moved = second.origin;
      const kinds = [
        {
          type: 'webhook',
          config: { url: `${first.origin}/traces`, headers: { authorization: `Bearer ${SECRET}` } },
          change: { url: `${moved}/traces` },
        },
        {
          type: 'langfuse',
          config: { secretKey: SECRET, publicKey: 'pk-lf-0123456789', baseUrl: first.origin },
          change: { baseUrl: moved },
        },
      ];
      const figures: Record<string, string> = {};
      const problems: string[] = [];
      try {
        for (const { type, config, change } of kinds) {
          const created = (await lab.operate('POST', '/observability/destinations', {
            type,
            name: type,
            config,
          })) as { readonly data: { readonly id: string } };
          const path = `/observability/destinations/${created.data.id}`;
          const key = lab.attacker.managementKey;
          const patched = await lab.call('PATCH', path, { key, body: { config: change } });
          await lab.call('POST', `${path}/test`, { key });
          const isSeen = secretsSeenBy(second);
          figures[type] =
            `PATCH ${statusesOf([patched])}; secret ${isSeen ? 'seen by the other receiver' : 'not seen'}`;
          problems.push(...brokenRules([isSeen, `the receiver reads the secret of a ${type} destination`]));
        }
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
      return { figures, problems };
    }),
};

function secretsSeenBy({ requests }: AttackerServer): boolean {
  return requests.some(({ headers: { authorization = '' } }) => {
    const decoded = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8');
    return authorization.includes(SECRET) || decoded.includes(SECRET);
  });
}
