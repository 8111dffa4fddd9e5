import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { brokenRules, milliseconds, usd } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, FIVE_TOKENS, PRICE, spentOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';

// The application name of a notification connection.
const MARK = 'signalbox notifications';
const TOLERATED_MS = 2_500;
const WATCHED_MS = 14_000;
const BETWEEN_CALLS_MS = 50;
// Calls that the lowered limit has room for.
const FITTING = 5;

interface MutedDatabase {
  readonly url: string;
  /** Nothing passes any more over the notification connections that are open now; they stay open. */
  mute(): number;
  close(): Promise<void>;
}

/** A way to the database on which single connections can die without a word. */
async function startMutedDatabase(databaseUrl: string): Promise<MutedDatabase> {
  const target = new URL(databaseUrl);
  const { hostname } = target;
  const port = Number(target.port);
  const sockets = new Set<Socket>();
  const notifying = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        notifying.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => {
      if (bytes.includes(MARK)) notifying.add(upstream);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    mute: () => {
      for (const upstream of notifying) upstream.removeAllListeners('data').pause();
      return notifying.size;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const silentNotifications: Experiment = {
  name: 'silent-notifications',
  title:
    'The notification connection of one replica dies without a word. A key that another replica disables, and a limit that ' +
    'it lowers, are in force within 2 s.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `silent_${label}`, root }, async (lab) => {
      const database = await startMutedDatabase(lab.databaseUrl);
      try {
        const deaf = await lab.startReplica({ root, environment: { DATABASE_URL: database.url } });
        const [disabled, lowered] = [await createKey(lab, {}), await createKey(lab, { limit: 1 })];
        const call = (key: string) =>
          lab.call('POST', '/embeddings', {
            key,
            replica: deaf,
            body: { model: 'openai/text-embedding-3-small', dimensions: 8, input: FIVE_TOKENS },
          });
        await call(disabled.key);
        await call(lowered.key);
        await lab.wait(1_000);
        const muted = database.mute();
        const { managementKey } = lab.keys;
        const limit = (FITTING + 1) * 5 * PRICE;
        await lab.call('PATCH', `/keys/${disabled.hash}`, { key: managementKey, body: { disabled: true } });
        await lab.call('PATCH', `/keys/${lowered.hash}`, { key: managementKey, body: { limit } });
        const changedAt = performance.now();
        let [lastDisabled, lastBeyond, served] = [0, 0, 0];
        let [isDisabled, isLowered] = [false, false];
        while (performance.now() - changedAt < WATCHED_MS && !(isDisabled && isLowered)) {
          const [one, other] = await Promise.all([call(disabled.key), call(lowered.key)]);
          if (one.status === 200) lastDisabled = performance.now() - changedAt;
          else isDisabled = true;
          if (other.status !== 200) isLowered = true;
          else if (++served > FITTING) lastBeyond = performance.now() - changedAt;
          await lab.wait(BETWEEN_CALLS_MS);
        }
        await deaf.stop();
        const spent = await spentOf(lab, lowered.hash);
        return {
          figures: {
            'notification connections that died': `${muted}`,
            'the disabled key worked for': milliseconds(lastDisabled),
            'lowered limit, spent': `${usd(limit)}, ${usd(spent)}`,
            'calls served beyond the lowered limit': `${Math.max(0, served - FITTING)}`,
            'the last of them after': milliseconds(lastBeyond),
          },
          problems: brokenRules(
            [muted === 0, 'no notification connection was found'],
            [lastDisabled > TOLERATED_MS, `a disabled key worked for ${milliseconds(lastDisabled)}`],
            // A lease that was taken under the old limit is trusted until then.
            [lastBeyond > TOLERATED_MS, `a lowered limit was exceeded after ${milliseconds(lastBeyond)}`],
          ),
        };
      } finally {
        await database.close();
      }
    }),
};
