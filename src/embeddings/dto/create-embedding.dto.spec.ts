import { beforeAll, describe, expect, it } from '@jest/globals';
import { readCreateEmbedding } from './create-embedding.dto.js';

const VALID = {
  input: 'text',
  model: 'vendor/model',
  dimensions: 8,
  encoding_format: 'base64',
  input_type: 'query',
};

const rejectionOf = (body: Record<string, unknown>): string | null => {
  try {
    readCreateEmbedding(body);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('settings that were validated once', () => {
  beforeAll(() => {
    readCreateEmbedding(VALID);
    readCreateEmbedding({ input: 'text', model: 'vendor/model' });
  });

  it('are accepted with another input', () => {
    const { input, model, dimensions, encoding_format, input_type, extra } = readCreateEmbedding({
      ...VALID,
      input: ['another', 'two'],
    });
    expect(input).toEqual({ form: 'texts', items: ['another', 'two'] });
    expect({ model, dimensions, encoding_format, input_type, extra }).toEqual({
      model: 'vendor/model',
      dimensions: 8,
      encoding_format: 'base64',
      input_type: 'query',
      extra: {},
    });
  });

  it('do not exempt the input', () => {
    expect(rejectionOf({ ...VALID, input: '' })).toMatch(/input/);
    expect(rejectionOf({ ...VALID, input: undefined })).toMatch(/input/);
  });

  it.each([
    ['a text for the number', { dimensions: '8' }, /dimensions/],
    ['a list for the text', { model: ['vendor/model'] }, /model/],
    ['a name for an absent member', { encoding_format: 'undefined' }, /encoding_format/],
    ['an object for the text', { input_type: { query: 1 } }, /input_type/],
    ['a wrong member beside them', { user: 1 }, /user/],
    ['another wrong member beside them', { session_id: 1 }, /session_id/],
    ['a trace that is no object', { trace: 'text' }, /trace/],
    ['preferences that are no object', { provider: 'openai' }, /provider/],
  ])('do not exempt %s', (_what, more, problem) => {
    expect(rejectionOf({ ...VALID, ...more })).toMatch(problem);
    expect(rejectionOf({ input: 'text', model: 'vendor/model', ...more })).toMatch(problem);
  });

  it('keep the members that go upstream', () => {
    expect(readCreateEmbedding({ ...VALID, truncate: 'END' }).extra).toEqual({ truncate: 'END' });
    expect(readCreateEmbedding({ ...VALID, provider: { only: ['openai'] } }).provider).toMatchObject({
      only: ['openai'],
    });
  });
});

describe('a member that is null', () => {
  it.each([
    'dimensions',
    'encoding_format',
    'input_type',
    'provider',
    'user',
    'session_id',
    'trace',
    'truncate',
  ])('is absent: %s', (name) => {
    const body = { input: 'text', model: 'vendor/model' };
    expect(readCreateEmbedding({ ...body, [name]: null })).toEqual(readCreateEmbedding(body));
  });

  it.each(['input', 'model'])('is rejected where it is required: %s', (name) => {
    expect(rejectionOf({ ...VALID, [name]: null })).toMatch(name);
  });

  it('keeps null inside a member that goes upstream', () => {
    const { extra } = readCreateEmbedding({ ...VALID, options: { mode: null }, truncate: null });
    expect(extra).toEqual({ options: { mode: null } });
  });
});

describe('half a surrogate pair', () => {
  const image = { type: 'image_url', image_url: { url: 'a\udc00' } };

  it.each([
    ['a text', { input: '\ud800' }, 'input'],
    ['one of several texts', { input: ['a', 'b\ud83d'] }, 'input[1]'],
    [
      'a part',
      { input: [{ content: [{ type: 'text', text: 'a' }, image] }] },
      'input[0].content[1].image_url.url',
    ],
    ['an unknown member', { input: 'a', options: { prompt: ['\ud800'] } }, 'options.prompt[0]'],
  ])('in %s is rejected by its path', (_name, members, path) => {
    expect(rejectionOf({ ...VALID, ...members })).toBe(
      `Invalid request parameters: ${path}: must not hold half a surrogate pair`,
    );
  });

  it('in the name of an unknown member is rejected', () => {
    expect(rejectionOf({ ...VALID, 'a\ud800': 1 })).toMatch(/a\?: must not hold half a surrogate pair$/);
  });

  it('is accepted as a whole pair', () => {
    expect(readCreateEmbedding({ ...VALID, input: '😀' }).input).toEqual({ form: 'texts', items: ['😀'] });
  });
});
