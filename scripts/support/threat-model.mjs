// The tables of docs/threat-model.md, printed from the rows of docs/threat-model.yaml.
import { basename } from 'node:path';

const MARKED = /(?<=<!-- threats -->\n).*(?=<!-- \/threats -->)/s;

/** A test file by its name, without the ending that all of them have. */
const link = (file) => `[${basename(file).replace(/\.(?:[\w-]+-)?spec\.ts$/, '')}](../${file})`;

function rowOf({ threat, service, tests, stays }) {
  const measure = stays === undefined ? service : `${service}. _Stays:_ ${stays}`;
  return `| ${[threat, measure, Object.keys(tests).map(link).join(', ')].join(' | ')} |`;
}

function sectionOf({ boundary, rule, stays, threats }) {
  return [
    `### ${boundary}`,
    [rule, ...(stays === undefined ? [] : [`_Stays:_ ${stays}`])].join(' '),
    ['| Threat | Measure | Tests |', '| --- | --- | --- |', ...threats.map(rowOf)].join('\n'),
  ].join('\n\n');
}

/** The page with the sections of these boundaries between its marks. */
export function withThreats(page, boundaries) {
  return page.replace(MARKED, () => `\n${boundaries.map(sectionOf).join('\n\n')}\n\n`);
}
