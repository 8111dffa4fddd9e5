import { describe, expect, it } from '@jest/globals';
import { csvOf } from './csv';

describe('a table as CSV', () => {
  it('quotes what separates cells, and disarms formulas', () => {
    const rows = [
      ['a,b', 0.00000125, null],
      ['say "hi"', -1, '=1+1'],
      ['＝1+1', 0, '\n=1'],
    ];
    expect(csvOf(['name', 'spend', 'note'], rows)).toBe(
      'name,spend,note\r\n"a,b",0.00000125,\r\n"say ""hi""",-1,\'=1+1\r\n\'＝1+1,0,"\'\n=1"\r\n',
    );
  });
});
