// `npm run encryption:rotate`: re-encrypts stored secrets with the first of ENCRYPTION_KEYS.
import { parseArgs } from 'node:util';
import { readDatabase, readEncryption } from '../config/app-config.js';
import { EnvironmentReader } from '../config/environment-reader.js';
import { ConfigCipher } from '../persistence/encryption/config-cipher.js';
import { Database } from '../persistence/database/database.js';
import { rotateEncryption } from '../upkeep/encryption-rotation.js';

const HELP = `Re-encrypts destinations, provider credentials and stored contents with the first of ENCRYPTION_KEYS.

Usage: npm run encryption:rotate

To rotate: restart every replica with ENCRYPTION_KEYS=old,new, so that all can read the new key; then with new,old; run
this; then restart them with new alone. It may run while the service serves, and again after an interruption.
The signing secrets of webhooks change with the first key; both signatures are sent while both keys are configured.
`;

/** Throws an Error with one line for the terminal. */
export async function run(argv: string[]): Promise<void> {
  const { values } = parseArgs({ args: argv, options: { help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const read = new EnvironmentReader(process.env);
  const cipher = new ConfigCipher(readEncryption(read));
  const database = new Database(readDatabase(read));
  try {
    await rotateEncryption(database, cipher, ({ table, rotated, unreadable }) => {
      for (const id of unreadable)
        process.stderr.write(`${table}: ${id} cannot be decrypted and stays unchanged\n`);
      process.stdout.write(`${table}: ${rotated}\n`);
    });
  } finally {
    await database.onApplicationShutdown();
  }
  process.stdout.write('Everything is encrypted with the first of ENCRYPTION_KEYS.\n');
}
