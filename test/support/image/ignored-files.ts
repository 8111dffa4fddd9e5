// The files that .dockerignore keeps from the build, by Docker's rules: the patterns are of paths from the root of the
// repository, and a directory takes along what is in it.
import { readFileSync } from 'node:fs';

const FILE = new URL('../../../.dockerignore', import.meta.url);

export const readIgnorePatterns = (): string[] =>
  readFileSync(FILE, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Whether Docker ignores this path, which is relative to the repository. */
export function readIgnored(): (path: string) => boolean {
  const expressions = readIgnorePatterns().map(toExpression);
  return (path) => expressions.some((expression) => expression.test(path));
}

function toExpression(pattern: string): RegExp {
  // Docker takes more forms than those that the file uses.
  if (/[![\]\\]/.test(pattern)) throw new Error(`this line of .dockerignore is not known here: ${pattern}`);
  const source = pattern
    .replace(/^\/|\/$/g, '')
    .replaceAll(/[.+^${}()|]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/?|\*|\?/g, (wildcard) =>
      wildcard === '*' ? '[^/]*' : wildcard === '?' ? '[^/]' : wildcard === '**' ? '.*' : '(?:.*/)?',
    );
  return new RegExp(`^${source}(?:/|$)`);
}
