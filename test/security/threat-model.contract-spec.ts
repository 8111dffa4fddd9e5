// Every threat of docs/threat-model.md names an existing test.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const inRepository = (path: string): URL => new URL(`../../${path}`, import.meta.url);
const page = readFileSync(inRepository('docs/threat-model.md'), 'utf8');
const [, threats = ''] = page.split('\n## Threats\n');
const rows = (threats.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

it.each(rows)('%s: has a test that exists', (...cells) => {
  const [threat = '', measure = '', owasp = '', asvs = '', test = ''] = cells;
  expect(threat).not.toBe('');
  expect(measure).not.toBe('');
  expect(owasp).toMatch(/^API(?:10|[1-9])(?:, API(?:10|[1-9]))*$/);
  expect(asvs).toMatch(/^\d+\.\d+\.\d+(?:, \d+\.\d+\.\d+)*$/);
  const [, file = '', title = ''] = /^`([\w./-]+spec\.ts)`: (.+)$/.exec(test) ?? [];
  expect([file, existsSync(inRepository(file))]).toEqual([file, true]);
  // A title of several lines or with quotation marks in it is still one string of its file.
  const text = readFileSync(inRepository(file), 'utf8').replaceAll('\\', '');
  expect([file, title, text.includes(title)]).toEqual([file, title, true]);
});

it('covers every risk of the OWASP list', () => {
  for (let risk = 1; risk <= 10; risk++) expect(threats).toMatch(new RegExp(`\\bAPI${risk}\\b`));
  expect(rows.length).toBeGreaterThan(40);
});
