import { describe, expect, it } from '@jest/globals';
import type { CatalogueModel } from '../../../api/catalogue';
import type { FormValues } from '../../../components/form/form';
import { changedLayer, newModel, problemInForm } from './model-fields';
import type { EndpointDraft } from './model-fields';

/** The values of fields by their names, as the form reads them. */
function valuesOf(texts: Readonly<Record<string, string>>): FormValues {
  const text = (name: string): string => texts[name] ?? '';
  const values = {
    text,
    textOrNull: (name: string) => text(name) || null,
    numberOrNull: (name: string) => (text(name) === '' ? null : Number(text(name))),
  };
  return values as unknown as FormValues;
}

const SHIPPED = { provider: 'openai', upstream_model: 'chat-1', max_output_tokens: 100, quantization: null };
const ENTRY = {
  id: 'acme/chat-1',
  kind: 'chat_models',
  model: { id: 'acme/chat-1', name: 'Chat', context_length: 1000, endpoints: [SHIPPED] },
  sources: {
    id: 'shipped',
    name: 'shipped',
    endpoints: { openai: { provider: 'shipped', upstream_model: 'shipped', max_output_tokens: 'shipped' } },
  },
  documents: [{ name: 'shipped', model: { endpoints: [SHIPPED] } }],
} as unknown as CatalogueModel;
const DRAFT: EndpointDraft = { key: 0, tag: 'openai', begun: SHIPPED, prices: [] };
const ADDED: EndpointDraft = { key: 1, tag: null, begun: { provider: 'vllm' }, prices: [] };
const BEGUN = {
  name: 'Chat',
  context_length: '1000',
  'e0.upstream_model': 'chat-1',
  'e0.max_output_tokens': '100',
  'e0.further': '{"quantization": null}',
};
const FORM = { kind: 'chat_models', isNew: false } as const;

function layerOf(texts: Readonly<Record<string, string>>, drafts = [DRAFT], removed: readonly string[] = []) {
  const form = { ...FORM, initial: valuesOf(BEGUN), values: valuesOf({ ...BEGUN, ...texts }) };
  return changedLayer(ENTRY, { ...form, drafts, removed });
}

describe('the layer of a form', () => {
  it('has the members that were changed, and no other', () => {
    expect(layerOf({})).toEqual({ id: 'acme/chat-1' });
    expect(layerOf({ name: 'Ours', 'e0.max_output_tokens': '50' })).toEqual({
      id: 'acme/chat-1',
      name: 'Ours',
      endpoints: [{ provider: 'openai', max_output_tokens: 50 }],
    });
  });

  it('takes a member that was emptied from the layers below', () => {
    expect(layerOf({ name: '', 'e0.further': '' })).toEqual({ id: 'acme/chat-1' });
  });

  it('has an added endpoint with its tag and its prices', () => {
    const texts = { 'e1.provider': 'vllm', 'e1.tag': 'vllm/two', 'e1.upstream_model': 'mini' };
    expect(layerOf(texts, [DRAFT, ADDED]).endpoints).toEqual([
      { provider: 'vllm', tag: 'vllm/two', upstream_model: 'mini', prices: [] },
    ]);
  });

  it('is all of a new model', () => {
    const values = valuesOf({ name: 'New', 'e1.provider': 'vllm', 'e1.upstream_model': 'mini' });
    expect(newModel([ADDED], { values, kind: 'chat_models', isNew: true })).toEqual({
      name: 'New',
      endpoints: [{ provider: 'vllm', upstream_model: 'mini', prices: [] }],
    });
  });
});

describe('a problem of the service', () => {
  const values = valuesOf({ 'e1.provider': 'vllm' });
  const layer = { endpoints: [{ provider: 'vllm' }] };
  const fieldOf = (problem: string) =>
    problemInForm(problem, { ...FORM, values, layer, drafts: [DRAFT, ADDED] });

  it.each([
    ['endpoints[0].upstream_model: must be text', 'e1.upstream_model: must be text'],
    ['endpoints[0]: upstream_model is missing', 'e1.upstream_model: is missing'],
    ['endpoints[0].wires[1]: must be one of chat', 'e1.further: wires[1]: must be one of chat'],
    ['context_length is missing', 'context_length: is missing'],
    ['context_length: must be a whole number', 'context_length: must be a whole number'],
    ['aliases[0]: must be of the form vendor/model', 'further: aliases[0]: must be of the form vendor/model'],
    ['endpoints[0].prices[0].source: must be text', 'vllm prices[0].source: must be text'],
    ['acme/chat-1 is another name of acme/chat', 'acme/chat-1 is another name of acme/chat'],
  ])('"%s" is shown beside its field', (problem, shown) => {
    expect(fieldOf(problem)).toBe(shown);
  });
});
