// Token counts match the provider's, for any text.
import { describe, expect, it } from '@jest/globals';
import { createEndpoint } from '../../test/support/routing/endpoints.js';
import { exactTokenCounts } from './token-count.js';

const endpoint = createEndpoint({ upstreamModel: 'text-embedding-3-small' });

describe('the count of a text', () => {
  it.each([
    ['<|endoftext|>', 7],
    ['<|fim_prefix|>', 7],
    ['<|fim_middle|>', 7],
    ['<|fim_suffix|>', 7],
    ['<|im_start|>', 6],
    ['<|im_end|>', 6],
    ['<|im_sep|>', 6],
    ['<|endofprompt|>', 7],
    ['a <|endoftext|> b', 8],
  ])('reads %s as ordinary text', async (text, expected) => {
    const counts = await exactTokenCounts({ form: 'texts', items: [text, 'one', text] }, endpoint);
    expect(counts).toEqual([expected, 1, expected]);
  });
});
