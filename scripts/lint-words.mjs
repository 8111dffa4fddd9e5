/**
 * Checks the wording of sources and documents: words that a sentence does better without, and renamed identifiers.
 *
 * Usage: node scripts/lint-words.mjs [--count] [folder or file ...]   (default: src, README.md and docs)
 *
 * Prints `file:line: word -> use instead` for each hit, or with `--count` the number of hits of each argument. Exits with
 * 1 if there is a hit.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

/** Words and phrases of prose. Phrases match across line breaks of a comment. */
const WORDS = {
  nobody: 'no process, no caller',
  somebody: 'a caller, a process',
  whoever: 'the caller, the process that ...',
  anew: 'again',
  meanwhile: 'while ...',
  'in the place of': 'instead of',
  'under way': 'in flight, running',
  'as it stands': 'unchanged, as it is',
  mend: 'fix',
  mends: 'fixes',
  mended: 'fixed',
  told: 'notified, received, reported to',
  tells: 'returns, reports, states',
  'at home': 'current, local',
  'goes home': 'returns',
};

/** Words that no sentence starts with. */
const OPENINGS = {
  What: 'name the subject',
  Who: 'name the subject',
  Whatever: 'name the subject',
  'Of two': 'name the two',
};

/** Identifiers that are distinctive enough to be looked for everywhere, comments and documents included. */
const NAMES = {
  Admission: 'LoadShedder',
  Allowance: 'LocalQuota',
  AnswerWishes: '...Options',
  BatchPlanner: 'BatchBuilder',
  BroadcastTerms: 'WorkspaceDestinations',
  ByteBudget: 'WeightedSemaphore',
  Cohort: 'TickBatch',
  DeliveryExchange: 'PlatformClient',
  DeliveryLane: 'DestinationConsumer',
  DeliveryMemory: 'DeliveryBudget',
  Dispatcher: 'ConsumerSupervisor',
  Duty: 'ProcessRole',
  EndpointPlaces: 'Semaphore',
  HealthBoard: 'EndpointHealthRegistry',
  LaneSender: 'PoisonIsolation',
  LaneServices: 'constructor injection',
  LeaseWish: '...Options',
  LogPages: 'LogTail',
  MadeVector: 'SourcedVector',
  PacedClaims: 'KeyedThrottle',
  PageWishes: '...Options',
  RequestSizes: 'PayloadSizer',
  SpendGate: 'SpendLimiter',
  SpendTerms: 'SpendPolicy',
  TracedContents: 'ContentCache',
  TracedKeys: 'KeyNameCache',
  Unfinished: 'Mutable',
  VectorMaker: 'VectorSource',
  VectorPurchase: 'EmbeddingRun',
  VectorSupply: 'EmbeddingRun',
  WaitingSweep: 'BacklogScan',
  claimProbe: 'tryProbe',
  giveBack: 'release',
  putBack: 'release',
  settleLog: 'rebaseLog',
  takeAtOnce: 'tryAcquire',
  unseenList: 'opaqueArray',
  withoutAbsent: 'omitUndefined',
};

/** Identifiers that are English words as well: looked for in code alone, outside comments and strings. */
const CODE_NAMES = {
  Gathering: 'Debouncer',
  Given: 'Defined',
  Pauses: 'WakeSignal',
  Share: 'Permit',
  Ticket: 'InFlightPermit',
  Turns: 'YieldQueue',
  Way: 'fallback',
  caps: 'limits',
  doubt: 'invalidate, scheduleFullScan',
  doubted: 'suspected',
  fate: 'result',
  holder: 'owner',
  isOut: 'isOpen',
  isUsable: 'isValid',
  told: 'lastError',
  verdict: 'decision',
};

/** Names that something else fixes: a class of undici, in the files that import it. */
const FOREIGN = { Dispatcher: "from 'undici'" };

const EXTENSIONS = new Set(['.ts', '.md']);
/** White space between the words of a phrase, with the margin of a comment or quotation. */
const GAP = String.raw`\s+(?:(?:\*|//|>)\s+)?`;

function alternatives(words) {
  return words
    .toSorted((left, right) => right.length - left.length)
    .map((word) => word.replaceAll(' ', GAP))
    .join('|');
}

function rule(table, flags) {
  return {
    table,
    pattern: new RegExp(String.raw`(?<![\w$\\])(?:${alternatives(Object.keys(table))})(?![\w$])`, flags),
  };
}

const PROSE_RULES = [rule(WORDS, 'gi'), rule(OPENINGS, 'g'), rule(NAMES, 'g')];
const CODE_RULES = [rule(CODE_NAMES, 'g')];
/** A comment, or a quoted text without line breaks; templates are left in, because they contain code. */
const COMMENTS_AND_TEXTS = /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

/** The code alone, with every other character but line breaks as a space, so that positions stay. */
function codeOf(text) {
  return text.replace(COMMENTS_AND_TEXTS, (part) => part.replace(/[^\n]/g, ' '));
}

function* hitsOf(text, rules) {
  for (const { table, pattern } of rules) {
    for (const match of text.matchAll(pattern)) {
      const word = match[0].replace(/\s+(?:(?:\*|\/\/|>)\s+)?/g, ' ');
      if (word in FOREIGN && text.includes(FOREIGN[word])) continue;
      yield { index: match.index, word, instead: table[word] ?? table[word.toLowerCase()] };
    }
  }
}

function* filesUnder(path) {
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) yield* filesUnder(child);
    else if (EXTENSIONS.has(extname(entry.name))) yield child;
  }
}

/** @returns {string[]} one line for each hit of a file, in the order of the file */
function linesOf(file) {
  const text = readFileSync(file, 'utf8');
  const hits = [...hitsOf(text, PROSE_RULES)];
  if (extname(file) === '.ts') hits.push(...hitsOf(codeOf(text), CODE_RULES));
  return hits
    .toSorted((left, right) => left.index - right.index)
    .map(
      ({ index, word, instead }) =>
        `${file}:${text.slice(0, index).split('\n').length}: ${word} -> ${instead}`,
    );
}

const roots = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isCount = process.argv.includes('--count');
let total = 0;
for (const root of roots.length > 0 ? roots : ['src', 'README.md', 'docs']) {
  const lines = [...filesUnder(root)].toSorted((one, other) => one.localeCompare(other)).flatMap(linesOf);
  total += lines.length;
  if (isCount) console.log(`${root}: ${lines.length}`);
  else for (const line of lines) console.log(line);
}
process.exitCode = total > 0 ? 1 : 0;
