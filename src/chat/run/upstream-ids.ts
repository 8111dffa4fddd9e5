// The id that a provider gives an answer in its headers, for answers whose body has none (docs/contract.md#generations).
import type { OutboundResponse } from '../../outbound/exchange/exchange.js';
import { recordableId } from '../../providers/shared/wire.js';

/** The first that is present counts: a proxy adds its own after the provider's. */
const HEADERS = ['x-request-id', 'apim-request-id', 'mistral-correlation-id', 'x-amzn-requestid', 'cf-ray'];

export function upstreamIdIn({ headers }: Pick<OutboundResponse, 'headers'>): string | null {
  for (const name of HEADERS) {
    const id = recordableId(headers[name]);
    if (id !== null && id !== '') return id;
  }
  return null;
}
