import { describe, expect, it } from '@jest/globals';
import { pythonOf } from './chat-samples';

describe('a literal of Python', () => {
  it.each([
    [null, 'None'],
    [true, 'True'],
    [0.5, '0.5'],
    ['a "quoted"\nline', String.raw`"a \"quoted\"\nline"`],
    [[], '[]'],
    [{}, '{}'],
  ])('of %p', (value, literal) => {
    expect(pythonOf(value)).toBe(literal);
  });

  it('indents what is nested', () => {
    expect(pythonOf([{ strict: false, list: [1] }])).toBe(
      [
        '[',
        '    {',
        '        "strict": False,',
        '        "list": [',
        '            1,',
        '        ],',
        '    },',
        ']',
      ].join('\n'),
    );
  });
});
