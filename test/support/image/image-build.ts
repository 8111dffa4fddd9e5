// Builds the image of the Dockerfile without Docker: every stage is a folder that holds what its COPY lines bring, and
// nothing of the checkout beside.
import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameOf, readStages } from './dockerfile.js';
import type { Instruction } from './dockerfile.js';
import { readIgnored } from './ignored-files.js';
import { layPackages } from './packages.js';
import { runShell } from './shell.js';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
// Everything else concerns the base image or Docker itself.
const BUILDING = /^(?:npm|npx|node) /;

type Variables = Readonly<Record<string, string>>;

export interface Image {
  readonly workingDirectory: string;
  readonly variables: Variables;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Builds all stages below `folder`, which is empty. The last one is the image. */
export async function buildImage(folder: string): Promise<Image> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const [index, instructions] of readStages().entries()) {
    stage = new Stage(join(folder, String(index)), stages);
    for (const instruction of instructions) await stage.apply(instruction);
    stages.set(nameOf(instructions) ?? String(index), stage);
  }
  if (stage === undefined) throw new Error('the Dockerfile has no stage');
  return stage;
}

class Stage implements Image {
  workingDirectory: string;
  variables: Variables = {};
  command: readonly string[] = [];
  healthCheck: readonly string[] = [];

  /** `root` is `/` of the stage. */
  constructor(
    private readonly root: string,
    private readonly earlier: ReadonlyMap<string, Stage>,
  ) {
    mkdirSync(root);
    this.workingDirectory = root;
  }

  async apply({ name, rest }: Instruction): Promise<void> {
    if (name === 'WORKDIR') {
      this.workingDirectory = this.resolve(rest);
      mkdirSync(this.workingDirectory, { recursive: true });
    } else if (name === 'ENV') {
      const pairs = rest.split(/\s+/).map((pair) => pair.split('=', 2));
      this.variables = { ...this.variables, ...Object.fromEntries(pairs) };
    } else if (name === 'COPY') this.copy(rest.split(/\s+/));
    else if (name === 'RUN') await this.run(rest);
    else if (name === 'CMD') this.command = JSON.parse(rest) as string[];
    else if (name === 'HEALTHCHECK') this.healthCheck = JSON.parse(rest.slice(rest.indexOf('['))) as string[];
    else if (!['FROM', 'USER', 'EXPOSE'].includes(name)) throw new Error(`no ${name} is known here`);
  }

  private resolve(path: string): string {
    return path.startsWith('/') ? join(this.root, path) : join(this.workingDirectory, path);
  }

  private copy(words: readonly string[]): void {
    const from = words[0]?.startsWith('--from=') ? this.earlier.get(words[0].slice(7)) : undefined;
    const paths = from ? words.slice(1) : words;
    const sources = paths.slice(0, -1);
    const target = paths.at(-1) ?? '';
    // Docker takes more forms than those that the Dockerfile uses.
    if (paths.some((path) => path.startsWith('--') || /[*?[]/.test(path)))
      throw new Error(`this COPY is not known here: ${words.join(' ')}`);
    for (const source of sources) {
      const path = from ? from.resolve(source) : join(REPOSITORY, source);
      const isInContext = existsSync(path) && (from !== undefined || !isIgnored(path));
      if (!isInContext) throw new Error(`COPY finds no ${source}`);
      const isInto = target.endsWith('/') && statSync(path).isFile();
      cpSync(path, join(this.resolve(target), isInto ? basename(source) : ''), {
        recursive: true,
        verbatimSymlinks: true,
        ...(from ? {} : { filter: (one: string) => !isIgnored(one) }),
      });
    }
  }

  private async run(commands: string): Promise<void> {
    if (!BUILDING.test(commands)) return;
    if (commands.startsWith('npm ci ')) return layPackages(commands, this.workingDirectory, REPOSITORY);
    await runShell(commands, this.workingDirectory, this.variables);
  }
}

const isIgnoredPath = readIgnored();
const isIgnored = (path: string): boolean => isIgnoredPath(relative(REPOSITORY, path));
