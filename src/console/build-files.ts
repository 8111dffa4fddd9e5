// The files of the console's build, by the exact path of their address. A path that the build does not have is never looked
// up on the disk, so that nothing else can be read.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { entityTag } from '../http/server/conditional-get.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
};
// They are compressed already.
const INCOMPRESSIBLE = new Set(['.png', '.woff2']);
const PAGE = 'index.html';
/** Addresses of pages, `$name` for a part that varies. */
const PAGES = 'pages.json';

/** Whether a build may have a file of this name. */
export function hasTypeOfFile(path: string): boolean {
  return Object.hasOwn(TYPES, extname(path));
}

interface InlineSources {
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

const INLINE_SCRIPT = /<script>([^]*?)<\/script>/g;
const INLINE_STYLE = /<style>([^]*?)<\/style>/g;

function hashesOf(html: string, elements: RegExp): readonly string[] {
  return [...html.matchAll(elements)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
}

export class BuildFile {
  readonly type: string;
  private text: Buffer | null = null;
  private packed: Buffer | null = null;
  private tagOfText = '';
  private sources: InlineSources | null = null;

  /** `path` begins with a slash. */
  constructor(
    private readonly file: string,
    readonly path: string,
    private readonly publicPath: string,
  ) {
    this.type = TYPES[extname(file)] ?? 'application/octet-stream';
  }

  /** Read once: all responses share the bytes. */
  get bytes(): Buffer {
    return (this.text ??= this.path === `/${PAGE}` ? this.readPage() : readFileSync(this.file));
  }

  /** The page serves every address, so that its own files need their whole paths. The build names them by `./`. */
  private readPage(): Buffer {
    const text = readFileSync(this.file, 'utf8');
    return Buffer.from(text.replaceAll('="./', `="${this.publicPath}/`));
  }

  /** Null: compression gains nothing. */
  get gzipped(): Buffer | null {
    return INCOMPRESSIBLE.has(extname(this.file)) ? null : (this.packed ??= gzipSync(this.bytes));
  }

  /** The page's own script and style, as sources of a policy. */
  get inlineSources(): InlineSources {
    return (this.sources ??= {
      scripts: hashesOf(this.bytes.toString(), INLINE_SCRIPT),
      styles: hashesOf(this.bytes.toString(), INLINE_STYLE),
    });
  }

  get tag(): string {
    return (this.tagOfText ||= entityTag(this.bytes.toString('latin1')));
  }
}

export class BuildFiles {
  private files: ReadonlyMap<string, BuildFile> = new Map();
  private pages: readonly RegExp[] = [];
  private builtAt = 0;

  constructor(
    private readonly directory: string,
    private readonly publicPath: string,
  ) {}

  /** The page of every address of the console; null: the console is not built. Notices a new build. */
  page(): BuildFile | null {
    const builtAt = statSync(join(this.directory, PAGE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (builtAt !== this.builtAt) {
      this.files = builtAt === 0 ? new Map() : this.list();
      this.pages = builtAt === 0 ? [] : this.listPages();
      this.builtAt = builtAt;
    }
    return this.files.get(`/${PAGE}`) ?? null;
  }

  /** Whether the console has a page of this address. */
  hasPage(path: string): boolean {
    return this.page() !== null && this.pages.some((page) => page.test(path));
  }

  find(path: string): BuildFile | null {
    return this.files.get(path) ?? (this.page() === null ? null : (this.files.get(path) ?? null));
  }

  private listPages(): readonly RegExp[] {
    const file = this.files.get(`/${PAGES}`);
    const routes = file === undefined ? [] : (JSON.parse(file.bytes.toString()) as readonly string[]);
    return routes.map(
      (route) => new RegExp(`^${route.replace(/\/$/, '').replace(/\$\w+/g, '[^/]+')}/?$`, 'i'),
    );
  }

  /** Without symbolic links, which may lead out of the directory. */
  private list(): ReadonlyMap<string, BuildFile> {
    const entries = readdirSync(this.directory, { recursive: true, withFileTypes: true });
    return new Map(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => {
          const file = join(entry.parentPath, entry.name);
          const path = `/${relative(this.directory, file).split(sep).join('/')}`;
          return [path, new BuildFile(file, path, this.publicPath)];
        }),
    );
  }
}
