// Every text field of every kind, filled with forbidden hosts: the kind passes every host of its requests to the URL
// guard.
import { describe, expect, it } from '@jest/globals';
import { fieldsOf } from '../../src/destination-kinds/shared/config-fields.js';
import { parseConfig } from '../../src/destination-kinds/shared/destination-kind.js';
import type { BaseDestinationConfig } from '../../src/destination-kinds/shared/destination-kind.js';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { DestinationConfig } from '../../src/domain/destinations/destination.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { CONTEXT } from '../support/receivers/deliver.js';

const HOST = '169.254.169.254';
// Whole addresses, hosts, and texts that change the meaning of the rest of an address.
const SPELLINGS = [
  `https://${HOST}`,
  `http://${HOST}:1/a`,
  `https://x:y@${HOST}/`,
  HOST,
  `//${HOST}/`,
  `${HOST}/`,
  `${HOST}#`,
  `${HOST}?`,
  `${HOST}\\`,
  `${HOST}:443/`,
  `x@${HOST}`,
  `x@${HOST}#`,
  `@${HOST}/`,
  `.${HOST}/`,
  `a/../../@${HOST}`,
  `a\r\nHost: ${HOST}`,
];

const hostOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).host : null);

/** The accepted configs of a kind in which one field is hostile. */
function hostileConfigs(
  kind: (typeof DESTINATION_KINDS)[number],
): { readonly field: string; readonly config: BaseDestinationConfig }[] {
  return fieldsOf(kind.configClass)
    .map(({ name }) => name)
    .filter((field) => field !== 'headers')
    .flatMap((field) =>
      SPELLINGS.flatMap((value) => {
        const config: DestinationConfig = { ...kind.example, [field]: value };
        try {
          return [{ field, config: parseConfig(kind, config) }];
        } catch {
          return [];
        }
      }),
    );
}

describe('the hosts of requests', () => {
  it.each(DESTINATION_KINDS)('are those that the guard receives: $type', async (kind) => {
    const configs = hostileConfigs(kind);
    expect(configs.length).toBeGreaterThan(0);
    for (const { field, config } of configs) {
      const declared = new Set(kind.delivery.addresses(config).map(hostOf));
      // An address that is none is rejected when the destination is created.
      if (declared.has(null)) continue;
      const requests = [
        ...(await kind.delivery.encode(config, [generationTrace(1)], CONTEXT)),
        ...(await kind.delivery.probe(config, CONTEXT)).map(({ request }) => request),
      ];
      for (const { url } of requests) {
        const host = hostOf(url);
        expect([field, url, declared.has(host)]).toEqual([field, url, true]);
      }
    }
  });

  it('can be hostile in most kinds: the test can detect it', () => {
    const reached = DESTINATION_KINDS.filter((kind) =>
      hostileConfigs(kind).some(({ config }) =>
        kind.delivery.addresses(config).some((address) => hostOf(address)?.startsWith(HOST)),
      ),
    );
    expect(reached.length).toBeGreaterThanOrEqual(14);
  });
});
