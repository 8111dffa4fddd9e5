// The check of words in `npm run lint`: found words, reported lines, and exceptions.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';

interface ForbiddenWord {
  readonly line: number;
  readonly word: string;
  readonly instead: string;
}
interface WordsModule {
  readonly forbiddenWords: (text: string, isCode: boolean) => readonly ForbiddenWord[];
}

/** Plain JavaScript without types, which the compiler must not look for. */
const importPlain = (path: string): Promise<WordsModule> => import(path) as Promise<WordsModule>;

// Put together here, because the check reads this file too.
const PERSON = ['no', 'body'].join('');
const PHRASE = ['under', 'way'];
const OPENING = ['Wh', 'at'].join('');
const RENAMED = ['DeliveryL', 'ane'].join('');
const PART = ['verd', 'ict'].join('');

let words: WordsModule;
beforeAll(async () => {
  words = await importPlain('../../scripts/support/words.mjs');
});
const found = (text: string, isCode = true): string[] =>
  words.forbiddenWords(text, isCode).map(({ line, word }) => `${line}: ${word}`);

describe('the check of words', () => {
  it('finds a word of prose in comments, texts and documents', () => {
    expect(found(`const a = 1; // ${PERSON} reads it`)).toEqual([`1: ${PERSON}`]);
    expect(found(`\nthrow new Error('${PERSON} listens');`)).toEqual([`2: ${PERSON}`]);
    expect(found(`A file that _${PERSON}_ reads.`, false)).toEqual([`1: ${PERSON}`]);
  });

  it.each(['\n * ', '\n// ', ' '])('finds a phrase across the line break %j of a comment', (gap) => {
    expect(found(`/* a call ${PHRASE.join(gap)} */`)).toEqual([`1: ${PHRASE.join(' ')}`]);
  });

  it('finds the opening of a sentence, and of a test title in lower case', () => {
    expect(found(`// ${OPENING} it is.`)).toEqual([`1: ${OPENING}`]);
    expect(found(`it('${OPENING.toLowerCase()} it returns', () => {});`)).toHaveLength(1);
    expect(found(`// It returns ${OPENING.toLowerCase()} it has.`)).toEqual([]);
  });

  it('finds a renamed identifier anywhere, and a part of an identifier in code only', () => {
    expect(found(`See ${RENAMED}.`, false)).toEqual([`1: ${RENAMED}`]);
    expect(found(`const my${PART[0]!.toUpperCase()}${PART.slice(1)} = 1;`)).toHaveLength(1);
    expect(found(`const text = '${PART.slice(0, 4)}';`)).toEqual([]);
  });

  it('permits a name that something else fixes', () => {
    const statement = 'SELECT holder FROM spend_leases';
    expect(found(`const text = \`${statement}\`;`)).toEqual([]);
  });

  it('proposes a word, and exits with 1', () => {
    const folder = mkdtempSync(join(tmpdir(), 'words-'));
    try {
      const file = join(folder, 'page.md');
      writeFileSync(file, `First line.\nA text that ${PERSON} reads.\n`);
      const run = () =>
        execFileSync(process.execPath, ['scripts/lint-words.mjs', folder], {
          encoding: 'utf8',
          stdio: 'pipe',
        });
      expect(run).toThrow(
        expect.objectContaining({ status: 1, stdout: `${file}:2: ${PERSON} -> no process, no caller\n` }),
      );
      writeFileSync(file, 'A text.\n');
      expect(run()).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
