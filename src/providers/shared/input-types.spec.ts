import { describe, expect, it } from '@jest/globals';
import { callOf, httpProvider } from '../../../test/support/providers/drive.js';
import type { ProviderCall } from './provider.js';

describe('an input type that the catalogue lists', () => {
  it.each([
    ['openai-compatible', 'input_type'],
    ['tei', 'prompt_name'],
  ])('is sent to %s as %s, and no other', async (slug, member) => {
    const sent = async (inputType: string, listedInputTypes: ProviderCall['listedInputTypes']) => {
      const call = callOf('any-model', { inputType, listedInputTypes });
      const { body } = await httpProvider(slug).buildRequest(call, { baseUrl: 'https://upstream.test' });
      return (JSON.parse(body) as Record<string, unknown>)[member];
    };
    expect(await sent('search_query', ['search_document', 'search_query'])).toBe('search_query');
    expect(await sent('clustering', ['search_query'])).toBeUndefined();
    expect(await sent('search_query', undefined)).toBeUndefined();
    // A provider's own word.
    expect(await sent('passage', ['search_query'])).toBe('passage');
  });
});
