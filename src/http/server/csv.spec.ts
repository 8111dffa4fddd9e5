import { expect, it } from '@jest/globals';
import { toCsv } from './csv.js';

it.each([
  ['text', 'text'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [1.5, '1.5'],
  [-1, '-1'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['a\nb', '"a\nb"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\r=1', '"\'\r=1"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1+1', "'＝1+1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['=HYPERLINK("a","b")', '"\'=HYPERLINK(""a"",""b"")"'],
  [{ a: [1] }, '"{""a"":[1]}"'],
])('writes %j as the cell %j', (value, cell) => {
  expect(toCsv(['column'], [{ column: value }])).toBe(`column\r\n${cell}\r\n`);
});

it('keeps the order of the columns, and the header of an empty list', () => {
  expect(toCsv(['b', 'a'], [{ a: 1, b: 2, c: 3 }])).toBe('b,a\r\n2,1\r\n');
  expect(toCsv(['b', 'a'], [])).toBe('b,a\r\n');
});
