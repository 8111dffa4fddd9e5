// Filters of the texts of calls: patterns of a guardrail, and patterns that this service brings (docs/contract.md#guardrails).
import { RE2JS } from 're2js';
import { regexProblem, regexSumProblem, syntaxProblem } from '../regex/regex-problems.js';

export const FILTER_ACTIONS = ['redact', 'block', 'flag'] as const;
export type FilterAction = (typeof FILTER_ACTIONS)[number];

/** The messages that a built-in filter reads. */
export const SCAN_SCOPES = ['all_messages', 'user_only'] as const;
export type ScanScope = (typeof SCAN_SCOPES)[number];

export const MAX_CONTENT_FILTERS = 20;
export const MAX_PATTERN_LENGTH = 1_000;
export const MAX_FILTER_LABEL = 100;

export interface ContentFilter {
  /** RE2. */
  readonly pattern: string;
  readonly action: FilterAction;
  /** Null: refusals and redacted texts name no label. */
  readonly label: string | null;
}

export interface BuiltinFilter {
  readonly slug: BuiltinSlug;
  readonly action: FilterAction;
  readonly scanScope: ScanScope;
}

interface BuiltinPattern {
  readonly pattern: string;
  /** Without its brackets. */
  readonly placeholder: string;
  /** The signs at the beginning of a match that count, 0 for none. Absent: the whole match. */
  readonly hitLength?: (match: string) => number;
}

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])';
const HEX = '[0-9A-Fa-f]{1,4}';

// Words around it keep a number out of identifiers and longer numbers.
export const BUILTIN_PATTERNS = {
  email: {
    pattern: '[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}',
    placeholder: 'EMAIL',
  },
  phone: {
    pattern:
      '(?:\\+[0-9]{1,3}[ .-]?(?:\\([0-9]{1,4}\\)[ .-]?)?[0-9]{2,4}(?:[ .-]?[0-9]{2,4}){2,4}' +
      '|\\([0-9]{3}\\) ?[0-9]{3}[ .-][0-9]{4}|\\b[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4})\\b',
    placeholder: 'PHONE',
  },
  ssn: { pattern: '\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\b', placeholder: 'SSN', hitLength: ssnLength },
  'credit-card': {
    pattern: '\\b[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}\\b',
    placeholder: 'CREDIT_CARD',
    hitLength: cardLength,
  },
  'ip-address': {
    pattern:
      `\\b${OCTET}(?:\\.${OCTET}){3}\\b` +
      `|\\b(?:${HEX}:){7}${HEX}\\b|\\b(?:${HEX}:){1,6}(?::${HEX}){1,6}\\b|\\b(?:${HEX}:){1,7}:`,
    placeholder: 'IP_ADDRESS',
  },
  secrets: {
    pattern: [
      // This service, OpenAI, Anthropic, OpenRouter and others of their form.
      '\\bsk-[A-Za-z0-9_-]{20,}',
      '\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b',
      '\\bgh[pousr]_[A-Za-z0-9]{36,}',
      '\\bgithub_pat_[A-Za-z0-9_]{40,}',
      '\\bglpat-[A-Za-z0-9_-]{20,}',
      '\\bxox[abeprs]-[A-Za-z0-9-]{10,}',
      '\\bAIza[A-Za-z0-9_-]{35}',
      '\\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}',
      '\\bhf_[A-Za-z0-9]{30,}',
      '\\bnpm_[A-Za-z0-9]{36}',
      '\\beyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}',
      '-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----',
    ].join('|'),
    placeholder: 'SECRET',
  },
  'regex-prompt-injection': {
    pattern:
      '(?i)\\b(?:ignore|disregard|forget|override|bypass)\\s+(?:(?:all|any|the|your|my|of)\\s+){0,3}' +
      '(?:previous|prior|above|earlier|preceding|system|original)\\s+' +
      '(?:instructions?|prompts?|messages?|rules?|directions?|guidelines?|context)\\b' +
      '|\\b(?:reveal|print|show|repeat|output)\\s+(?:me\\s+)?(?:your|the)\\s+(?:system|hidden|initial)\\s+(?:prompt|instructions?|message)\\b' +
      '|\\byou\\s+are\\s+now\\s+(?:in\\s+)?(?:dan\\b|developer\\s+mode|jailbroken)',
    placeholder: 'PROMPT_INJECTION',
  },
} as const satisfies Readonly<Record<string, BuiltinPattern>>;

export type BuiltinSlug = keyof typeof BUILTIN_PATTERNS;
export const BUILTIN_SLUGS = Object.keys(BUILTIN_PATTERNS) as readonly BuiltinSlug[];
/** Why the patterns of a guardrail must not be stored; null: they may. */
export function contentFiltersProblem(
  filters: readonly ContentFilter[],
): { readonly index: number | null; readonly problem: string } | null {
  for (const [index, { pattern }] of filters.entries()) {
    const problem = patternProblem(pattern);
    if (problem !== null) return { index, problem };
  }
  const sum = regexSumProblem(filters.map(({ pattern }) => pattern));
  return sum === null ? null : { index: null, problem: sum };
}

function patternProblem(pattern: string): string | null {
  const problem = regexProblem(pattern) ?? syntaxProblem(pattern);
  if (problem !== null) return problem;
  return RE2JS.compile(pattern).matcher('').find() ? 'must not match the empty text' : null;
}

function ssnLength(match: string): number {
  const [area = '', group, serial] = match.split('-');
  const isOne = area !== '000' && area !== '666' && area < '900' && group !== '00' && serial !== '0000';
  return isOne ? match.length : 0;
}

/** Of the longest card number: other digits may follow a space. */
function cardLength(match: string): number {
  for (let end = match.length; end > 0; end--) {
    const isWhole = end === match.length || match[end] === ' ' || match[end] === '-';
    if (isWhole && hasLuhnSum(match.slice(0, end))) return end;
  }
  return 0;
}

/** The check digit of card numbers. */
function hasLuhnSum(match: string): boolean {
  const digits = [...match].filter((sign) => sign >= '0' && sign <= '9').map(Number);
  const sum = digits.toReversed().reduce((all, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return all + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return digits.length >= 13 && digits.length <= 19 && sum % 10 === 0;
}
