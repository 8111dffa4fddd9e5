// The environment variables of providers: the required ones, and misspelt ones.
import { providerPrefix } from '../../domain/providers/provider.js';
import type { Provider } from './provider.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface MisspeltVariable {
  readonly name: string;
  /** The variable that it most likely stands for. */
  readonly meant: string;
}

const API_KEY = '_API_KEY';
const BASE_URL = '_BASE_URL';

// Names that other tools use, without separators.
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  [API_KEY]: ['APIKEY', 'KEY', 'TOKEN', 'APITOKEN', 'ACCESSKEY', 'SECRETKEY', 'APISECRET', 'API'],
  [BASE_URL]:
    'BASEURL URL URI BASEURI BASE APIBASE APIBASEURL APIURL ENDPOINT APIENDPOINT HOST APIHOST ADDRESS SERVERURL'.split(
      ' ',
    ),
};
const PREFIXES: Readonly<Record<string, readonly string[]>> = {
  azure: ['AZUREOPENAI', 'OPENAIAZURE'],
  bedrock: ['AWSBEDROCK', 'AMAZONBEDROCK'],
  cohere: ['CO'],
  google: ['GEMINI', 'GOOGLEGEMINI', 'GOOGLEAI', 'GOOGLEAISTUDIO', 'GOOGLEGENERATIVEAI'],
  jina: ['JINAAI'],
  mistral: ['MISTRALAI'],
  'openai-compatible': ['OPENAILIKE', 'OPENAICOMPAT'],
  tei: ['HFTEI', 'TEXTEMBEDDINGSINFERENCE'],
  together: ['TOGETHERAI'],
  vertex: ['VERTEXAI', 'GOOGLEVERTEX', 'GOOGLEVERTEXAI'],
  voyage: ['VOYAGEAI'],
};
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['AWS_BEARER_TOKEN_BEDROCK', 'BEDROCK_API_KEY']]);
// Shorter names are one letter away from names of other programs: LLM_API_KEY, DINA_API_KEY.
const SHORTEST_WITH_TYPO = 5;
const LONG = 9;

/** The variables that a provider needs before it can serve; none for an embedded one. */
export function requiredVariables(provider: Provider): readonly string[] {
  if (provider.transport === 'local') return [];
  const prefix = providerPrefix(provider.slug);
  return [
    ...(provider.needsApiKey ? [prefix + API_KEY] : []),
    ...(provider.defaultBaseUrl === null ? [prefix + BASE_URL] : []),
  ];
}

/** Variables that look like those of a provider under another name, unless the right one is set as well. */
export function misspeltVariables(
  environment: Environment,
  slugs: readonly string[],
): readonly MisspeltVariable[] {
  const isSet = (name: string): boolean => (environment[name] ?? '').trim() !== '';
  const known = new Set(
    slugs.flatMap((slug) => [providerPrefix(slug) + API_KEY, providerPrefix(slug) + BASE_URL]),
  );
  return Object.keys(environment)
    .filter((name) => isSet(name) && !known.has(name))
    .flatMap((name) => {
      const meant = OTHER_NAMES.get(name) ?? meantBy(name.toUpperCase().replace(/[^A-Z0-9]/g, ''), slugs);
      return meant === null || isSet(meant) ? [] : [{ name, meant }];
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** `text`: the name without separators. */
function meantBy(text: string, slugs: readonly string[]): string | null {
  const names = slugs.map((slug) => ({
    prefix: providerPrefix(slug),
    spellings: [providerPrefix(slug).replaceAll('_', ''), ...(PREFIXES[slug] ?? [])],
  }));
  const suffixes = Object.entries(SUFFIXES);
  for (const { prefix, spellings } of names)
    for (const [suffix, synonyms] of suffixes)
      if (spellings.some((spelling) => synonyms.some((synonym) => text === spelling + synonym)))
        return prefix + suffix;
  for (const { prefix, spellings } of names)
    for (const [suffix, synonyms] of suffixes)
      if (spellings.some((spelling) => isTypo(text, spelling, synonyms))) return prefix + suffix;
  return null;
}

/** Whether one half is right, and the other almost. */
function isTypo(text: string, spelling: string, [right = '', ...synonyms]: readonly string[]): boolean {
  if (text.startsWith(spelling) && distance(text.slice(spelling.length), right) <= 1) return true;
  if (spelling.length < SHORTEST_WITH_TYPO) return false;
  const most = spelling.length >= LONG ? 2 : 1;
  return [right, ...synonyms].some(
    (ending) => text.endsWith(ending) && distance(text.slice(0, -ending.length), spelling) <= most,
  );
}

/** Letters that are missing, added, replaced, or exchanged with their neighbour. */
function distance(one: string, other: string): number {
  // Row by row; two rows back for exchanged neighbours.
  let before: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_none, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isSame ? 0 : 1),
      );
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isExchanged) least = Math.min(least, at(before, column - 2) + 1);
      current.push(least);
    }
    before = previous;
    previous = current;
  }
  return at(previous, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
