// Provider words without secrets and inner names.
import { describe, expect, it } from '@jest/globals';
import { boundedText } from '../../domain/text/bounded-text.js';
import { inOneLine, withoutInnerNames, withoutMarkup } from './provider-words.js';
import type { InnerNames } from './provider-words.js';

const NAMES: InnerNames = {
  apiKeys: ['canaryKey7f3a9c', 'canaryId7f3a9c:canarySecret7f3a9c:canaryToken7f3a9c'],
  baseUrl: 'https://canaryUser7f3a9c:canaryPassword7f3a9c@embeddings.canary-host.example:8443/v1',
  upstreamModel: 'canaryDeployment7f3a9c',
  modelId: 'vendor/model',
};
const clean = (words: string, names: Partial<InnerNames> = {}): string =>
  withoutInnerNames(words, { ...NAMES, ...names });

describe('inner names', () => {
  it.each([
    ['Incorrect API key provided: canaryKey7f3a9c.', /canaryKey/],
    [
      'the key canaryId7f3a9c with canarySecret7f3a9c and canaryToken7f3a9c',
      /canaryId|canarySecret|canaryToken/,
    ],
    ['cannot reach https://embeddings.canary-host.example:8443/v1/embeddings', /canary-host/],
    ['Host: embeddings.canary-host.example', /canary-host/],
    ['user canaryUser7f3a9c, password canaryPassword7f3a9c', /canaryUser|canaryPassword/],
    ['The deployment canaryDeployment7f3a9c does not exist', /canaryDeployment/],
    ['User: arn:aws:iam::123456789012:user/canary is not authorized', /arn:|123456789012|canary/],
    ['account 123456789012 has no access', /123456789012/],
    ['Rate limit reached in organization org-AbC123dEf456 on requests', /org-/],
    ['project proj_abc123DEF456 is archived', /proj_/],
    ['Consumer projects/my-canary-1 has been suspended', /my-canary/],
    ['/subscriptions/0f1e2d3c-aaaa-bbbb-cccc-0123456789ab/resourceGroups/canary', /0f1e2d3c|canary/],
    ['tenant 0f1e2d3c-aaaa-bbbb-cccc-0123456789ab', /0f1e2d3c/],
    ['Bearer abc.def.ghi was refused', /abc\.def/],
    ['key sk-proj-abcdefghijklmnop is wrong', /sk-proj/],
    ['AKIAIOSFODNN7EXAMPLE is disabled', /AKIA/],
    ['ask jane.doe@canary.example.com', /jane/],
    ['connect ECONNREFUSED 10.11.12.13:8080', /10\.11/],
    ['connect ECONNREFUSED [fd00:1:2:3::4]:8080', /fd00/],
    ['upstream http://vllm-7b:8000/v1 failed', /vllm-7b/],
    ['upstream vllm.models.svc.cluster.local:8000 failed', /svc|cluster/],
    ['ip-10-0-0-12.eu-west-1.compute.internal failed', /ip-10/],
    ['http://localhost:11434 refused', /localhost|11434/],
    ['File "/usr/lib/python3/vllm/engine.py", line 3', /\/usr/],
  ])('do not leave: %s', (words, inner) => {
    expect(clean(words)).not.toMatch(inner);
  });

  it('are replaced by what callers know, and the rest stays', () => {
    expect(clean('The deployment canaryDeployment7f3a9c does not exist')).toBe(
      'The deployment vendor/model does not exist',
    );
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
    expect(clean(`model: ${arn} is unknown`, { upstreamModel: arn })).toBe('model: vendor/model is unknown');
  });

  it.each([
    "This model's maximum context length is 8192 tokens, however you requested 10000 tokens.",
    'Rate limit reached for requests per min (RPM): Limit 3, Used 3. Please try again in 20s.',
    'see https://platform.openai.com/docs/guides/error-codes/api-errors.',
    "body.input: Input should be a valid string; '$.input' is invalid.",
    'failed to encode response: json: unsupported value: NaN',
    'at 12:30:45 UTC, version 1.2.3',
  ])('are not seen in ordinary words: %s', (words) => {
    expect(clean(words)).toBe(words);
  });

  it('of a model whose id has its upstream name stay: they are public', () => {
    const names = { upstreamModel: 'two', modelId: 'acme/two' };
    expect(clean('must have fewer than two inputs', names)).toBe('must have fewer than two inputs');
  });

  it('are found in bounded time', () => {
    // Of the processor: a busy machine needs longer for the same work.
    const before = process.cpuUsage();
    for (const word of ['a:', 'a.', 'http://a', '1.', 'a@a.', '::', '/usr/', 'project '])
      clean(word.repeat(16_384 / word.length));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });
});

describe('one line', () => {
  it.each([
    ['two\n  lines', 'two lines'],
    ['<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', '502 Bad Gateway'],
    ['<!DOCTYPE html><body><h1>Not here</h1>', 'Not here'],
    ['<html></html>', ''],
    ['', ''],
  ])('of %j is %j', (words, line) => {
    expect(inOneLine(words)).toBe(line);
  });

  it('is not made of the words of a provider, which keep their lines', () => {
    expect(withoutMarkup('two\n  lines <b>')).toBe('two\n  lines <b>');
    expect(withoutMarkup('<html>\n<title> 502\n</title>')).toBe('502');
  });

  it('is cut without half of a pair', () => {
    expect(boundedText('ab\u{1f600}', 3)).toBe('ab');
    expect(boundedText('x'.repeat(400), 300)).toBe('x'.repeat(300));
  });
});
