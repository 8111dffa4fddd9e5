// Any token count that a provider reports, on every wire: a possible count of the call, or none.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { UpstreamResponse } from '../../src/providers/shared/provider.js';
import { callOf, exchange, httpProvider } from '../support/providers/drive.js';
import { PROVIDER_ROWS } from '../support/providers/rows.js';
import type { RunningProviderStub } from '../support/providers/provider-stub.js';

const MOST = 2 ** 31 - 1;
// As JSON.
const NO_COUNTS = [
  '-1',
  '-1000000',
  '0',
  '0.5',
  '1e-9',
  '1e999',
  '-1e999',
  '2147483648',
  '1e300',
  '"7"',
  'null',
  'true',
  '[7]',
  '{}',
];
const COUNTS = ['1', '7', '1e3', '2147483647'];
const USAGE_NAME = /tokens?(Count)?$|TokenCount$|eval_count$/i;
const USAGE_HEADERS = ['x-compute-tokens', 'x-amzn-bedrock-input-token-count'];
const MARK = '"@@"';

/** The answer with `json` as every reported token count. */
function reporting(response: UpstreamResponse, json: string): UpstreamResponse {
  const body: unknown = JSON.parse(response.body.toString());
  const marked = JSON.stringify(body, (name, value: unknown) =>
    typeof value === 'number' && USAGE_NAME.test(name) ? '@@' : value,
  );
  const headers = { ...response.headers };
  for (const name of USAGE_HEADERS) if (headers[name] !== undefined) headers[name] = json;
  return { ...response, headers, body: Buffer.from(marked.replaceAll(MARK, json)) };
}

describe.each(PROVIDER_ROWS.map((row) => [row.label, row] as const))('the usage of %s', (_label, row) => {
  let running: RunningProviderStub;
  let response: UpstreamResponse;
  const provider = httpProvider(row.stub.slug);
  const call = callOf(row.model, { input: { form: 'texts', items: ['one'] } });
  beforeAll(async () => {
    running = await row.stub.start();
    const connection = { baseUrl: running.baseUrl, apiKey: row.stub.apiKey };
    ({ response } = await exchange(provider, call, connection));
  });
  afterAll(() => running.close());

  const read = (json: string) => {
    const { promptTokens, totalTokens, tokensByModality } = provider.readAnswer(
      reporting(response, json),
      call,
    );
    return { counts: [promptTokens, totalTokens], byModality: Object.values(tokensByModality ?? {}) };
  };

  it.each(NO_COUNTS)('counts as not reported when it is %s', (json) => {
    const { counts, byModality } = read(json);
    expect(counts).toEqual([null, null]);
    for (const count of byModality) expect(count).toBe(0);
  });

  it.each(COUNTS)('is a whole number that a record can hold, or none, when it is %s', (json) => {
    const { counts } = read(json);
    for (const count of counts) {
      expect(count === null || (Number.isSafeInteger(count) && count > 0 && count <= MOST)).toBe(true);
    }
    if (row.usage !== 'none' && !json.includes('e')) expect(counts).toContain(Number(json));
  });
});
