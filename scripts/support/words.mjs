/**
 * The words that this project does without, each with the ones to use instead, and the search for them.
 * CONTRIBUTING.md says how sentences and names are written.
 */

/** Words and phrases of prose: comments, texts and documents. A phrase is found across the line breaks of a comment. */
export const WORDS = {
  nobody: 'no process, no caller',
  somebody: 'a caller, a process',
  anybody: 'any caller, any process',
  everybody: 'every caller, every process',
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
  lane: 'destination consumer',
  lanes: 'destination consumers',
  cohort: 'tick batch, micro-batch',
  cohorts: 'tick batches, micro-batches',
  gathering: 'batch',
  verdict: 'result, decision',
  verdicts: 'results, decisions',
  fate: 'result',
  fates: 'results',
  doubt: 'suspicion; unconfirmed',
  doubted: 'suspected',
  'spend gate': 'spend limiter',
  'claim probe': 'half-open probe',
  'give back': 'release, return',
  'gives back': 'releases, returns',
  'gave back': 'released, returned',
  'given back': 'released, returned',
  'call record': 'generation',
  'call records': 'generations',
  dearest: 'most expensive',
  'not to be had': 'unavailable',
  spoil: 'corrupt',
  spoils: 'corrupts',
  spoilt: 'corrupted',
};

/** Words that no sentence starts with. */
export const OPENINGS = {
  What: 'name the subject',
  Who: 'name the subject',
  Whatever: 'name the subject',
  'Of two': 'name the two',
};

/** Renamed identifiers that are distinctive enough to be looked for everywhere. */
export const NAMES = {
  Admission: 'LoadShedder',
  Allowance: 'LocalQuota',
  AnswerWishes: '...Options',
  BatchPlanner: 'BatchBuilder',
  BroadcastTerms: 'WorkspaceDestinations',
  ByteBudget: 'WeightedSemaphore',
  DeliveryExchange: 'PlatformClient',
  DeliveryLane: 'DestinationConsumer',
  DeliveryMemory: 'DeliveryBudget',
  Dispatcher: 'ConsumerSupervisor',
  EndpointPlaces: 'Semaphore',
  HealthBoard: 'EndpointHealthRegistry',
  JudgedGateway: 'CheckedGateway',
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
  VectorMaker: 'VectorSource',
  VectorPurchase: 'EmbeddingRun',
  VectorSupply: 'EmbeddingRun',
  WaitingSweep: 'BacklogScan',
  UNHURRIED: 'NEVER_YIELD',
  askUpstream: 'callUpstream',
  claimProbe: 'tryProbe',
  giveBack: 'release, restore',
  mayAsk: 'mayTry',
  putBack: 'release',
  settleLog: 'rebaseLog',
  takeAtOnce: 'tryAcquire',
  unseenList: 'opaqueArray',
  withoutAbsent: 'omitUndefined',
};

/** Renamed identifiers that are English words as well: looked for in code alone, outside comments and strings. */
export const CODE_NAMES = {
  Given: 'Defined',
  Pauses: 'WakeSignal',
  Share: 'Permit',
  Ticket: 'InFlightPermit',
  Turns: 'YieldQueue',
  Unfinished: 'Mutable',
  Way: 'fallback',
  isOut: 'isOpen',
  isUsable: 'isValid',
};

/** Words inside identifiers, such as `lane` in `firstLane`: looked for in code alone. */
export const NAME_PARTS = {
  allowance: 'quota',
  caps: 'limits',
  cohort: 'batch',
  dearest: 'mostExpensive',
  doubt: 'suspicion, invalidate',
  doubted: 'suspected',
  duty: 'process role',
  fate: 'result',
  gathering: 'debouncer, batch',
  holder: 'owner',
  judge: 'check, assert',
  lane: 'consumer',
  nobody: 'none, anonymous',
  somebody: 'a noun of what it is',
  told: 'notified, lastError',
  verdict: 'result, decision',
  whoever: 'a noun of what it is',
  wish: 'options',
  wishes: 'options',
};

/** Openings that make a test title a clause without a subject: a title reads `returns 409 for the sixth destination`. */
export const TITLE_OPENINGS = {
  that: 'subject and verb first',
  what: 'subject and verb first',
  whatever: 'subject and verb first',
  whether: 'subject and verb first',
  who: 'subject and verb first',
};

/** Names that something else fixes, in files that contain the pattern: a class of undici, columns of the database, a system account. */
const FIXED_NAMES = {
  Dispatcher: /from 'undici'/,
  caps: /\bacquire_|\bis_gone\b/,
  holder: /\bholder_id\b|\bspend_leases\b/,
  lane: /\bextract_lane\b/,
  nobody: /\/etc\/passwd/,
};

/** White space between the words of a phrase, with the margin of a comment or quotation. */
const GAP = String.raw`\s+(?:(?:\*|//|#|>)\s+)?`;

function alternatives(words) {
  return words
    .toSorted((left, right) => right.length - left.length)
    .map((word) => word.replaceAll(' ', GAP))
    .join('|');
}

function capitalized(word) {
  return word[0].toUpperCase() + word.slice(1);
}

/** The underscores of emphasis are no part of a word, those within a name are. */
function wholeWords(table, flags) {
  const words = alternatives(Object.keys(table));
  return {
    table,
    pattern: new RegExp(String.raw`(?<![a-zA-Z\d$\\]|\w_)(?:${words})(?![a-zA-Z\d$]|_\w)`, flags),
  };
}

function nameParts(table) {
  const words = alternatives(Object.keys(table));
  const capitals = alternatives(Object.keys(table).map(capitalized));
  return {
    table,
    pattern: new RegExp(`(?<![a-zA-Z])(?:${words})(?![a-z])|(?:${capitals})(?![a-z])`, 'g'),
  };
}

function titleOpenings(table) {
  return {
    table,
    pattern: new RegExp(
      String.raw`(?<=(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*['"\`])(?:${alternatives(Object.keys(table))})(?!\w)`,
      'g',
    ),
  };
}

const PROSE_RULES = [wholeWords(WORDS, 'gi'), wholeWords(OPENINGS, 'g'), wholeWords(NAMES, 'g')];
const TITLE_RULES = [titleOpenings(TITLE_OPENINGS)];
const CODE_RULES = [wholeWords(CODE_NAMES, 'g'), nameParts(NAME_PARTS)];
/** A comment, or a quoted text without line breaks; templates are left in, because they contain code. */
const COMMENTS_AND_TEXTS = /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

/** The code alone, with every other character but line breaks as a space, so that positions stay. */
function codeOf(text) {
  return text.replace(COMMENTS_AND_TEXTS, (part) => part.replace(/[^\n]/g, ' '));
}

function* matchesOf(searched, rules, text) {
  for (const { table, pattern } of rules) {
    for (const match of searched.matchAll(pattern)) {
      const word = match[0].replace(/\s+(?:(?:\*|\/\/|#|>)\s+)?/g, ' ');
      if (FIXED_NAMES[word]?.test(text)) continue;
      yield { index: match.index, word, instead: table[word] ?? table[word.toLowerCase()] };
    }
  }
}

/**
 * @param {string} text the content of a file
 * @param {boolean} isCode whether it is a program, and not a document
 * @returns {{ line: number, word: string, instead: string }[]} in the order of the text, one for each place
 */
export function forbiddenWords(text, isCode) {
  const matches = [...matchesOf(text, PROSE_RULES, text)];
  if (isCode) {
    matches.push(...matchesOf(text, TITLE_RULES, text), ...matchesOf(codeOf(text), CODE_RULES, text));
  }
  const places = new Map(matches.map((match) => [match.index, match]));
  return [...places.values()]
    .toSorted((left, right) => left.index - right.index)
    .map(({ index, word, instead }) => ({ line: text.slice(0, index).split('\n').length, word, instead }));
}
