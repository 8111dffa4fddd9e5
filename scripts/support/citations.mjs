/**
 * The citations of this repository: a document that is named must exist, and a section that is named must be one of its
 * headings. CONTRIBUTING.md says what may be cited.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inRepository } from './repository.mjs';

/** A link or an image of Markdown: its text, which may contain an image, and its address. */
const LINK = /\[((?:[^[\]]|!?\[[^\]]*\]\([^()]*\))*)\]\(\s*([^()\s]+)[^()]*\)/g;
/** An address in the HTML of a document. */
const ATTRIBUTE = /\b(?:src|srcset|href)="([^"]+)"/g;
/** A document by its path, with the anchor or the quoted heading of a section. */
const DOCUMENT =
  /(?<![\w/.@-])((?:\.{1,2}\/)*(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.md)\b(?:#([\w-]+)|,? \(?"([^"\n]{1,60})")?/g;
/** A decision by its number alone. */
const DECISION = /(?<![\w/.-])(docs\/decisions\/\d{4})\b(?!-)/g;
/** A rule by its number, or a source without a path: the reader cannot follow them. */
const UNNAMED =
  /\b(?:(?:contract|decisions),? (?:(?:rule|section)s? )?\d|interface "[A-Z]|field[ ]notes\b)/gi;
/** An identifier before the words of a test title, or of a case of its table. */
const TITLE_ID = /(?<=['"`])[A-Z]{1,2}\d{1,3}[:.)](?= \S)/g;
const FENCED = /^([ >]*)(`{3,}|~{3,})[\s\S]*?^[ >]*\2[`~]*\s*$/gm;
/** A quoted text is matched first, so that `//` inside of it begins no comment. */
const TEXT_OR_COMMENT =
  /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|^\s*#[^\n]*/gm;
/** A document of a path that begins so is cited wherever it is named; any other only in a comment. */
const DOCUMENTS = /^(?:\.{1,2}\/)*docs\//;

const blank = (part) => part.replace(/[^\n]/g, ' ');

/** The headings of a document by the anchors that GitHub gives to them. */
const headings = new Map();
function headingsOf(path) {
  if (!headings.has(path)) {
    const found = new Map();
    for (const [, title] of readFileSync(path, 'utf8')
      .replace(FENCED, blank)
      .matchAll(/^#{1,6} +(.+?) *$/gm)) {
      const anchor = title
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      let unique = anchor;
      for (let count = 1; found.has(unique); count++) unique = `${anchor}-${count}`;
      found.set(unique, title);
    }
    headings.set(path, found);
  }
  return headings.get(path);
}

/** The path from the root of the repository or from the citing file, or undefined where there is no such file. */
function resolved(path, file) {
  const decoded = decodeURIComponent(path);
  return [join(dirname(file), decoded), inRepository(decoded)].find((candidate) => existsSync(candidate));
}

/** @returns {string | undefined} the problem of a citation */
function problemOf({ path, anchor, heading }, file) {
  const cited = path === '' ? file : resolved(path, file);
  if (cited === undefined) return 'no such file';
  if (!cited.endsWith('.md')) return undefined;
  if (anchor !== undefined && !headingsOf(cited).has(anchor)) return `no heading #${anchor}`;
  if (heading !== undefined && ![...headingsOf(cited).values()].includes(heading))
    return `no heading "${heading}"`;
  return undefined;
}

function* addressesOf(text) {
  for (const { index, 0: link, 1: inner, 2: address } of text.matchAll(LINK)) {
    yield { index, address };
    for (const nested of addressesOf(inner))
      yield { ...nested, index: index + link.indexOf(inner) + nested.index };
  }
  for (const match of text.matchAll(ATTRIBUTE)) yield { index: match.index, address: match[1] };
}

function* linksOf(text) {
  for (const { index, address } of addressesOf(text)) {
    if (/^[a-z][a-z\d+.-]*:/i.test(address)) continue;
    const [path, anchor] = address.split('#');
    yield { index, cited: address, path, anchor };
  }
}

function* namesOf(text) {
  for (const match of text.matchAll(DOCUMENT)) {
    yield { index: match.index, cited: match[0], path: match[1], anchor: match[2], heading: match[3] };
  }
}

function* decisionsOf(text) {
  for (const match of text.matchAll(DECISION)) {
    const folder = inRepository('docs/decisions');
    const name = readdirSync(folder).find((entry) => entry.startsWith(`${basename(match[1])}-`));
    yield {
      index: match.index,
      cited: match[0],
      path: name === undefined ? match[1] : `docs/decisions/${name}`,
    };
  }
}

function* citationsOf(text, isDocument) {
  if (isDocument) {
    const prose = text.replace(FENCED, blank);
    yield* linksOf(prose.replace(/`[^`\n]*`/g, blank));
    // The text of a link names its document as the reader knows it; only the address is a path.
    yield* namesOf(prose.replace(LINK, blank));
    yield* decisionsOf(prose.replace(LINK, blank));
    return;
  }
  const isComment = new Uint8Array(text.length);
  for (const match of text.matchAll(TEXT_OR_COMMENT)) {
    if (match[1] === undefined) isComment.fill(1, match.index, match.index + match[0].length);
  }
  for (const citation of namesOf(text)) {
    if (isComment[citation.index] === 1 || DOCUMENTS.test(citation.path)) yield citation;
  }
  yield* decisionsOf(text);
}

function* unnamedOf(text, pattern, instead) {
  for (const match of text.matchAll(pattern)) yield { index: match.index, word: match[0], instead };
}

/**
 * @param {string} text the content of a file
 * @param {string} file its path
 * @returns {{ line: number, word: string, instead: string }[]} the wrong citations in the order of the text
 */
export function wrongCitations(text, file) {
  const found = [];
  for (const citation of citationsOf(text, file.endsWith('.md'))) {
    const problem = problemOf(citation, file);
    if (problem !== undefined) found.push({ index: citation.index, word: citation.cited, instead: problem });
  }
  found.push(...unnamedOf(text, UNNAMED, 'the path and anchor of a document'));
  if (/[.-]spec\.tsx?$/.test(file)) found.push(...unnamedOf(text, TITLE_ID, 'a title without an identifier'));
  return found
    .toSorted((left, right) => left.index - right.index)
    .map(({ index, word, instead }) => ({ line: text.slice(0, index).split('\n').length, word, instead }));
}
