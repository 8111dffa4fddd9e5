// The Dockerfile as its instructions.
import { readFileSync } from 'node:fs';

const FILE = new URL('../../../Dockerfile', import.meta.url);

export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Its stages, each with its FROM first. */
export function readStages(): Instruction[][] {
  const lines = readFileSync(FILE, 'utf8')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  const stages: Instruction[][] = [];
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    const stage = stages.at(-1);
    if (stage === undefined || name === '') throw new Error(`the Dockerfile has an unknown line: ${line}`);
    stage.push({ name, rest });
  }
  return stages;
}

/** The name that `COPY --from` uses. */
export const nameOf = ([from]: readonly Instruction[]): string | undefined =>
  / AS (\S+)$/i.exec(from?.rest ?? '')?.[1];
