// Paths of members in error texts.
const MAX_SHOWN_NAME_LENGTH = 64;
const MAX_SHOWN_PATH_LENGTH = 256;

/** For example `filter_rules.groups[0].rules`. Names are the caller's text: cut, and without line breaks. */
export function memberPath(path: readonly (string | number)[]): string {
  const text = path.reduce<string>((before, part) => before + pathPart(part, before === ''), '');
  return text.length > MAX_SHOWN_PATH_LENGTH ? `${text.slice(0, MAX_SHOWN_PATH_LENGTH)}...` : text;
}

export function pathPart(part: string | number, isFirst: boolean): string {
  if (typeof part === 'number' || /^\d{1,10}$/.test(part)) return `[${part}]`;
  const name = part.length > MAX_SHOWN_NAME_LENGTH ? `${part.slice(0, MAX_SHOWN_NAME_LENGTH)}...` : part;
  return (isFirst ? '' : '.') + name.replace(/[^\x20-\x7e]/g, '?');
}
