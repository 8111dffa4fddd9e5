// The service before one stub of every provider's wire.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { startWireStubs } from './wire-stubs.js';
import type { WireStubs } from './wire-stubs.js';

export interface WiresApp {
  readonly app: TestApp;
  readonly stubs: WireStubs;
  close(): Promise<void>;
}

export async function startWiresApp(): Promise<WiresApp> {
  const stubs = await startWireStubs();
  const app = await withCatalogueFile(stubs.catalogue, (file) =>
    createTestApp({ environment: { ...stubs.environment, CATALOGUE_FILE: file } }),
  );
  return {
    app,
    stubs,
    close: async () => {
      await app.close();
      await stubs.close();
    },
  };
}
