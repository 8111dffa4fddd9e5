import { beforeAll, describe, expect, it } from '@jest/globals';
import { readCreateEmbedding } from './create-embedding.dto.js';

const RIGHT = {
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
    readCreateEmbedding(RIGHT);
    readCreateEmbedding({ input: 'text', model: 'vendor/model' });
  });

  it('are accepted with another input', () => {
    const { input, model, dimensions, encoding_format, input_type, extra } = readCreateEmbedding({
      ...RIGHT,
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
    expect(rejectionOf({ ...RIGHT, input: '' })).toMatch(/input/);
    expect(rejectionOf({ ...RIGHT, input: undefined })).toMatch(/input/);
  });

  it.each([
    ['a text for the number', { dimensions: '8' }, /dimensions/],
    ['null for the number', { dimensions: null }, /dimensions/],
    ['a list for the text', { model: ['vendor/model'] }, /model/],
    ['a name for an absent member', { encoding_format: 'undefined' }, /encoding_format/],
    ['null for an absent member', { encoding_format: null }, /encoding_format/],
    ['an object for the text', { input_type: { query: 1 } }, /input_type/],
    ['a wrong member beside them', { user: 1 }, /user/],
    ['another wrong member beside them', { session_id: null }, /session_id/],
    ['a trace that is no object', { trace: 'text' }, /trace/],
    ['preferences that are no object', { provider: 'openai' }, /provider/],
  ])('do not exempt %s', (_what, more, problem) => {
    expect(rejectionOf({ ...RIGHT, ...more })).toMatch(problem);
    expect(rejectionOf({ input: 'text', model: 'vendor/model', ...more })).toMatch(problem);
  });

  it('keep the members that go upstream', () => {
    expect(readCreateEmbedding({ ...RIGHT, truncate: 'END' }).extra).toEqual({ truncate: 'END' });
    expect(readCreateEmbedding({ ...RIGHT, provider: { only: ['openai'] } }).provider).toMatchObject({
      only: ['openai'],
    });
  });
});
