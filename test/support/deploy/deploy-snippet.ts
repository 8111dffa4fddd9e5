// The examples of deploy/README.md.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The one in YAML that begins with a member. */
export function deploySnippet(member: string): Record<string, unknown> {
  const document = readFileSync(new URL('../../../deploy/README.md', import.meta.url), 'utf8');
  const blocks = [...document.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(
    ([, margin = '', text = '']) => text.replaceAll(new RegExp(`^${margin}`, 'gm'), ''),
  );
  const [found, ...others] = blocks.filter((text) => text.startsWith(`${member}:`));
  if (found === undefined || others.length > 0)
    throw new Error(`deploy/README.md needs one example of ${member}`);
  return parse(found) as Record<string, unknown>;
}
