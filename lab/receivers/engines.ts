// The engines that `npm run lab -- receivers` installs, by the parts of their interfaces that are used here.
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';

interface Chdb {
  Session: new () => {
    /** Throws an Error whose message has ClickHouse's exception. */
    query(statement: string, format?: string): string;
    cleanup(): void;
  };
}

interface StoreOptions {
  readonly address: string;
  readonly port: number;
  readonly silent: boolean;
  readonly directory: string;
  readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
}

type S3rver = new (options: StoreOptions) => {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
  readonly httpServer?: Server;
};

export const loadChdb = (): Chdb => load('chdb') as Chdb;
export const loadS3rver = (): S3rver => load('s3rver') as S3rver;

function load(name: string): unknown {
  return createRequire(join(variable('SIGNALBOX_RECEIVERS'), 'package.json'))(name);
}

/** Variables that the script sets for the tests. */
export function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: these tests are run by npm run lab -- receivers`);
  return value;
}
