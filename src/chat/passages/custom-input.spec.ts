// The input of a custom tool's call, however its arguments are cut.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { CustomInput } from './custom-input.js';

/** The inside of a JSON string, as a provider sends it. */
const spelled = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Pushes the pieces, and parses each part that comes. */
function inputOf(pieces: readonly string[]): string {
  const input = new CustomInput();
  const parts = pieces.map((piece) => {
    const bytes = Buffer.from(piece);
    return input.push(bytes, 0, bytes.length);
  });
  return [...parts, input.end()].map((part) => JSON.parse(`"${part.toString()}"`) as string).join('');
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'u', 'd', '8', '0', '{', '}', '😀', 'ü', '\u0000') }),
);
/** All letters beyond ASCII as escapes, as some servers write them. */
const escapedBeyondAscii = (json: string): string =>
  json.replaceAll(/[^\u0020-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('the input', () => {
  it('is the text of the arguments, cut anywhere', () => {
    fc.assert(
      fc.property(text, fc.boolean(), fc.array(fc.nat()), (input, isEscaped, cuts) => {
        const json = JSON.stringify({ input: input.toWellFormed() });
        const whole = spelled(isEscaped ? escapedBeyondAscii(json) : json);
        const letters = [...whole];
        const places = [...new Set(cuts.map((cut) => cut % (letters.length + 1)))].toSorted((a, b) => a - b);
        const pieces = [0, ...places].map((from, at) =>
          letters.slice(from, places[at] ?? letters.length).join(''),
        );
        expect(inputOf(pieces)).toBe(input.toWellFormed());
      }),
    );
  });

  it.each([
    ['is whole where more members follow', '{"input":"a","other":1}', 'a'],
    ['may have spaces before it', ' { "input" : "a" }', 'a'],
    ['is the arguments themselves where they have another form', '{"patch":"a"}', '{"patch":"a"}'],
    ['is a plain text where the model writes no JSON', '*** Begin', '*** Begin'],
    ['is found behind another member', '{"a":1,"input":"b"}', 'b'],
    ['keeps what no JSON spells so', '{"input":"a\nb\\x"}', 'a\nb\\x'],
    ['is as far as it came where the answer was cut', '{"input":"ab\\', 'ab'],
    ['is empty where nothing came', '', ''],
  ])('%s', (_title, json, expected) => {
    expect(inputOf([spelled(json)])).toBe(expected);
    expect(inputOf([...spelled(json)])).toBe(expected);
  });
});
