// Every threat of docs/threat-model.yaml has a measure and names existing tests.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

interface Threat {
  readonly threat: string;
  readonly service: string;
  readonly standards: readonly string[];
  /** By file, one title or several. */
  readonly tests: Readonly<Record<string, string | readonly string[]>>;
  readonly stays?: string;
}
interface Boundary {
  readonly boundary: string;
  readonly rule: string;
  readonly stays?: string;
  readonly threats: readonly Threat[];
}

const inRepository = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const boundaries = parse(readFileSync(inRepository('docs/threat-model.yaml'), 'utf8')) as Boundary[];
const threats = boundaries.flatMap((boundary) => boundary.threats);

const MEMBERS = new Set(['threat', 'service', 'standards', 'tests', 'stays']);
const OWASP = /^API(?:10|[1-9])$/;
const ASVS = /^\d+\.\d+\.\d+$/;

function testProblems(file: string, titles: readonly string[]): string[] {
  if (!/^[\w./-]+spec\.ts$/.test(file) || !existsSync(inRepository(file))) return [`no test file: ${file}`];
  // A title of several lines or with quotation marks in it is still one string of its file.
  const text = readFileSync(inRepository(file), 'utf8').replaceAll('\\', '');
  if (titles.length === 0) return [`no titles: ${file}`];
  return titles.filter((title) => title === '' || !text.includes(title)).map((title) => `no test: ${title}`);
}

function problemsOf(row: Threat): string[] {
  const problems = Object.entries(row)
    .filter(([member, value]) => !MEMBERS.has(member) || value === '' || value === null)
    .map(([member]) => `wrong member: ${member}`);
  const { service, standards, tests } = row;
  if (!service) problems.push('no measure');
  const unknown = standards.filter((number) => !OWASP.test(number) && !ASVS.test(number));
  problems.push(...unknown.map((number) => `unknown standard: ${number}`));
  for (const pattern of [OWASP, ASVS])
    if (!standards.some((number) => pattern.test(number))) problems.push(`no number of ${pattern.source}`);
  if (Object.keys(tests).length === 0) problems.push('no test');
  return [
    ...problems,
    ...Object.entries(tests).flatMap(([file, titles]) => testProblems(file, [titles].flat())),
  ];
}

it.each(threats.map((row): [string, Threat] => [row.threat, row]))(
  '%s: has a measure and tests that exist',
  (_threat, row) => {
    expect(problemsOf(row)).toEqual([]);
  },
);

it('cover every risk of the OWASP list, and none is listed twice', () => {
  const risks = Array.from({ length: 10 }, (_, index) => `API${index + 1}`);
  expect(threats.flatMap(({ standards }) => standards)).toEqual(expect.arrayContaining(risks));
  expect(threats.length).toBeGreaterThan(140);
  expect(new Set(threats.map(({ threat }) => threat)).size).toBe(threats.length);
});

it('every boundary has a name, a rule and threats', () => {
  for (const { boundary, rule, threats: rows } of boundaries) {
    expect(boundary).not.toBe('');
    expect(rule).toMatch(/\.$/);
    expect(rows.length).toBeGreaterThan(0);
  }
});

describe('a threat', () => {
  const file = 'test/security/credentials.contract-spec.ts';
  const row: Threat = {
    threat: 'Keys are guessed',
    service: '256 random bits',
    standards: ['API2', '11.5.1'],
    tests: { [file]: 'has 256 random bits' },
  };

  it.each<[string, Partial<Threat>, string]>([
    ['without a measure', { service: '' }, 'no measure'],
    ['without a test', { tests: {} }, 'no test'],
    ['with a test file that does not exist', { tests: { 'test/absent.e2e-spec.ts': 'has' } }, 'no test file'],
    [
      'with a title that its file does not have',
      { tests: { [file]: ['has 999 random bits'] } },
      'no test: has',
    ],
    [
      'with a number of neither standard',
      { standards: ['API11', 'API2', '11.5.1'] },
      'unknown standard: API11',
    ],
    ['without a number of ASVS', { standards: ['API2'] }, 'no number of'],
  ])('%s is rejected', (_name, part, problem) => {
    expect(problemsOf({ ...row, ...part }).join('\n')).toContain(problem);
    expect(problemsOf(row)).toEqual([]);
  });
});
