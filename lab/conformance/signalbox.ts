// This service as a gateway under test: the build, in a process of its own, configured as an operator would.
import { withCatalogueFile } from '../../test/support/catalogue/catalogue-file.js';
import { SERVICE_PROGRAM, startChild } from '../../test/support/processes/child.js';
import { post, PROVIDER_TIMEOUT_MS } from './gateway.js';
import type { Gateway } from './gateway.js';

interface ServiceOptions {
  readonly databaseUrl: string;
  readonly signal: AbortSignal;
}

export interface RunningService {
  readonly baseUrl: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/** The service before stubs. `catalogue`: the text of a catalogue file. */
export async function startService(
  { environment }: { readonly environment: Readonly<Record<string, string>> },
  catalogue: string,
  { databaseUrl, signal }: ServiceOptions,
): Promise<RunningService> {
  const { message, stop } = await withCatalogueFile(catalogue, (catalogueFile) =>
    startChild<{ readonly baseUrl: string; readonly keys: { readonly apiKey: string } }>(SERVICE_PROGRAM, {
      environment: {
        SERVICE_WANTS_KEYS: 'yes',
        DATABASE_URL: databaseUrl,
        ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
        PORT: '0',
        LOG_LEVEL: 'fatal',
        MODEL_DISCOVERY: 'off',
        SHUTDOWN_ANNOUNCE_MS: '0',
        CATALOGUE_FILE: catalogueFile,
        PROVIDER_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS),
        PROVIDER_RETRY_BASE_DELAY_MS: '1',
        ...environment,
      },
      signal,
    }),
  );
  return { baseUrl: message.baseUrl, apiKey: message.keys.apiKey, stop };
}

/** Its embeddings. */
export function signalboxGateway({ baseUrl, apiKey }: RunningService, signal: AbortSignal): Gateway {
  return {
    name: 'signalbox',
    notOffered: new Set(),
    remarks: [],
    ask: (row, body, { next } = {}) => {
      const order = [row, ...(next ? [next] : [])].map(({ stub }) => stub.slug);
      return post(
        `${baseUrl}/embeddings`,
        { authorization: `Bearer ${apiKey}` },
        { model: row.id, provider: { only: order, order }, ...body },
        signal,
      );
    },
  };
}
