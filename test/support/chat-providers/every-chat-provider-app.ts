// The whole service before the stubs of all chat providers.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { CHAT_WIRES, startEveryChatProvider } from './every-chat-provider.js';
import type { EveryChatProvider } from './every-chat-provider.js';

export interface EveryChatProviderApp {
  readonly app: TestApp;
  readonly providers: EveryChatProvider;
  /** Every stub answers as at the start again. */
  reset(): void;
  close(): Promise<void>;
}

/** A failure is reported at once. */
export async function startAppWithEveryChatProvider(
  environment: Readonly<Record<string, string>> = {},
): Promise<EveryChatProviderApp> {
  const providers = await startEveryChatProvider();
  const app = await withCatalogueFile(providers.catalogue, (file) =>
    createTestApp({
      environment: {
        ...providers.environment,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
        ...environment,
      },
    }),
  );
  return {
    app,
    providers,
    reset: () => {
      for (const wire of CHAT_WIRES) {
        const stub = providers.stubOf(wire);
        stub.answerWith(null);
        stub.streamWith(null);
        stub.replyWith(null);
        stub.releaseAnswers();
      }
    },
    close: async () => {
      await app.close();
      await providers.close();
    },
  };
}
