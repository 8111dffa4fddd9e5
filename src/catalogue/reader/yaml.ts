// Reads YAML as plain values that know the line on which they stand.
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { CatalogueError, Cursor } from './cursor.js';
import type { Path } from './cursor.js';

export function parseYaml(text: string, name: string): Cursor {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    const { line } = lines.linePos(problem.pos[0]);
    throw new CatalogueError(`${name}:${line}: is not valid YAML: ${firstLine(problem.message)}`, name);
  }
  const source = {
    name,
    lineOf: (path: Path) => lines.linePos(find(document, path).offset).line,
    writtenAt: (path: Path) => {
      const { node } = find(document, path);
      return isScalar(node) ? node.source : undefined;
    },
  };
  return new Cursor(source, plainValue(document, name));
}

/** An alias is its anchor's own value, without a copy: their number costs nothing. */
function plainValue(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    throw new CatalogueError(`${name}:1: is not valid YAML: ${firstLine((error as Error).message)}`, name);
  }
}

/** The node at a path, and the offset of the name or the item that leads to it; the nearest one where there is none. */
function find(document: Document, path: Path): { node: Node | null; offset: number } {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const key of path) {
    const { at, next } = step(node, key);
    offset = at?.range?.[0] ?? offset;
    node = isAlias(next) ? (next.resolve(document) ?? null) : next;
  }
  return { node, offset };
}

function step(node: Node | null, key: string | number): { at: Node | null; next: Node | null } {
  if (isSeq(node)) {
    const item = node.items[Number(key)];
    return isNode(item) ? { at: item, next: item } : { at: null, next: null };
  }
  const pair = isMap(node) ? node.items.find(({ key: name }) => String(name) === key) : undefined;
  return {
    at: isNode(pair?.key) ? pair.key : null,
    next: isNode(pair?.value) ? pair.value : null,
  };
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? '';
}
