// Tables as files of the browser.

import { decimalText } from '../format';

type Cell = string | number | null;

/** A cell that a spreadsheet would compute is text, as in the files of the service. */
function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return decimalText(cell);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
}

/** `name` is that of the file, without its ending. */
export function saveCsv(name: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: `${name}.csv` });
  link.click();
  URL.revokeObjectURL(url);
}
