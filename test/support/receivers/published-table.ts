// The tables of docs/destinations, read from those pages.
import { readFileSync } from 'node:fs';

export interface PublishedTable {
  /** The whole CREATE TABLE. */
  readonly statement: string;
  /** From the name of a column to its type, in their order. */
  readonly columns: ReadonlyMap<string, string>;
}

export function publishedTable(type: 'clickhouse' | 'snowflake'): PublishedTable {
  const page = readFileSync(new URL(`../../../docs/destinations/${type}.md`, import.meta.url), 'utf8');
  const statement = /^CREATE TABLE OPENROUTER_TRACES[^;]*;/m.exec(page)?.[0] ?? '';
  const columns = [...statement.matchAll(/^ {2}([A-Z_]+) (.+?),?$/gm)];
  return { statement, columns: new Map(columns.map(([, name = '', sqlType = '']) => [name, sqlType])) };
}
