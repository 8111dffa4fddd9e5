// The check of citations in `npm run lint`: documents and headings that do not exist, and sources without a path.
import { beforeAll, describe, expect, it } from '@jest/globals';

interface WrongCitation {
  readonly line: number;
  readonly word: string;
  readonly instead: string;
}
interface CitationsModule {
  readonly wrongCitations: (text: string, file: string) => readonly WrongCitation[];
}

/** Plain JavaScript without types, which the compiler must not look for. */
const importPlain = (path: string): Promise<CitationsModule> => import(path) as Promise<CitationsModule>;

// Put together here, because the check reads this file too.
const DOCUMENTS = ['do', 'cs'].join('');
const CONTRACT = `${DOCUMENTS}/contract.md`;
const RULES = [
  ['contr', 'act 7'],
  ['contr', 'act section 5'],
  ['deci', 'sions 1'],
  ['interf', 'ace "E'],
].map((parts) => parts.join(''));
const ID = ['X', '12: '].join('');

let citations: CitationsModule;
beforeAll(async () => {
  citations = await importPlain('../../scripts/support/citations.mjs');
});
const found = (text: string, file = 'src/program.ts'): string[] =>
  citations.wrongCitations(text, file).map(({ line, word, instead }) => `${line}: ${word} -> ${instead}`);

describe('the check of citations', () => {
  it.each([
    `// Masked (${CONTRACT}#masking).`,
    `/**\n * Masked: ${CONTRACT}#api-keys.\n */`,
    `// The reason is ${DOCUMENTS}/decisions/0004, the figure ${DOCUMENTS}/performance.md, "V8 options".`,
    '// README.md and ../CONTRIBUTING.md',
    "const page = join(folder, 'any-page.md');",
    "const address = 'https://example.com/any-page.md'; // https://example.com/any-page.md",
  ])('permits %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('finds a document that does not exist, in comments and in texts', () => {
    expect(found(`// First.\n// See ${DOCUMENTS}/absent.md.`)).toEqual([
      `2: ${DOCUMENTS}/absent.md -> no such file`,
    ]);
    expect(found(`const text = '${DOCUMENTS}/absent.md';`)).toEqual([
      `1: ${DOCUMENTS}/absent.md -> no such file`,
    ]);
    expect(found('// See any-page.md.')).toEqual(['1: any-page.md -> no such file']);
    expect(found(`// See ${DOCUMENTS}/decisions/0999.`)).toEqual([
      `1: ${DOCUMENTS}/decisions/0999 -> no such file`,
    ]);
  });

  it('finds a heading that does not exist, by its anchor and by its words', () => {
    expect(found(`// ${CONTRACT}#absent`)).toEqual([`1: ${CONTRACT}#absent -> no heading #absent`]);
    expect(found(`// ${CONTRACT}, "Absent"`)).toEqual([`1: ${CONTRACT}, "Absent" -> no heading "Absent"`]);
  });

  it('checks the links and images of a document from its own folder', () => {
    const page = `${DOCUMENTS}/page.md`;
    expect(
      found('[rules](contract.md#masking) [all](decisions) [site](https://example.com/a.md)', page),
    ).toEqual([]);
    expect(found('First.\n[rules](contract.md#absent)', page)).toEqual([
      '2: contract.md#absent -> no heading #absent',
    ]);
    expect(found('[![x](images/absent.png)](absent)', page)).toEqual([
      '1: absent -> no such file',
      '1: images/absent.png -> no such file',
    ]);
    expect(found('<img src="images/absent.png">', page)).toEqual(['1: images/absent.png -> no such file']);
    expect(found('```sh\ncat absent.md\n```', page)).toEqual([]);
  });

  it.each(RULES)('rejects %j, which names no document', (rule) => {
    expect(found(`// Source: ${rule}.`)).toEqual([`1: ${rule} -> the path and anchor of a document`]);
  });

  it('rejects an identifier at the start of a test title or case', () => {
    const wrong = `1: ${ID.slice(0, -1)} -> a title without an identifier`;
    expect(found(`it('${ID}returns 409', () => {});`, 'test/any.e2e-spec.ts')).toEqual([wrong]);
    expect(found(`['${ID}an end', 1],`, 'src/any.spec.ts')).toEqual([wrong]);
    expect(found(`const name = '${ID}an end';`, 'src/any.ts')).toEqual([]);
  });
});
