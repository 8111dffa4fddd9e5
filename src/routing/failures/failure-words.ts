// The words by which providers name a failure that their status does not name. Sources: their documentation, and messages
// as users quote them.
import type { FailureClass } from './failure-classes.js';

const ACCOUNT =
  /exceeded your (current|monthly) quota|insufficient (account )?(balance|quota|credits?|funds)|(out of|not enough) (account )?(balance|credits?|funds)|(credit )?balance is (too low|insufficient|not enough|negative)|billing (is |has )?(not (been )?(active|enabled)|hard limit|inactive)|without billing|payment (is )?required|account (is |has been )?(not active|inactive|suspended|deactivated|disabled|overdue|in arrears)/i;

/** The limits of a whole call: before the limits of an input, whose words they share. */
const BATCH =
  /\bper (submitted )?batch\b|tokens? in batch\b|tokens per request|(?<!physical )batch size|too many inputs|more batches|(request|payload|body) (entity )?(is )?too large|length limit exceeded/i;

const CONTEXT = [
  /\bcontext (length|size|window)\b/i,
  /exceeds? the context of/i,
  /\b(max|maximum) (input|sequence|text) length (is|of) \d[\d,_]* tokens/i,
  /(less|fewer|no more|at most) (than )?\d[\d,_]* tokens/i,
  /too many (input )?tokens/i,
  /(cannot|must not|can't) exceed \d[\d,_]* tokens/i,
  /exceed(s|ing|ed)? (the )?(max|maximum|limit)( number)?( of)?( input| sequence| allowed| model)? ?(of )?(length|tokens|\d[\d,_]* tokens)/i,
  /\b(texts?|inputs?|prompt|documents?|sequence|content)(\[\d+\])? (is|are|was|were) too long/i,
  /longer than the (maximum|max|model)/i,
  /input token count/i,
  /size limit exceeded by \d+ tokens/i,
  /expected maxLength: \d+, actual: \d+/i,
  /reduce the length of the (input|prompt|messages?|text)/i,
  /too large (for model with|to process\b)/i,
];

const NAME = String.raw`[:\s/]*["'\x60]?[\w./:@-]*["'\x60]?`;
const GONE = String.raw`(not (been )?(found|exist|available|supported|deployed|enabled)|doesn't exist|(been )?(deprecated|retired|decommissioned|discontinued|removed|sunset|shut ?down)|no longer)`;
const MODEL = [
  new RegExp(
    String.raw`\b(models?|deployment)\b${NAME}( for this resource)?,? (is |was |has |does |could )?${GONE}`,
    'i',
  ),
  /\b(unknown|invalid|unsupported|no such|unrecognized) (embedding )?model\b/i,
  /(could not|cannot|can't|unable to) (find|access|load) (the )?model\b/i,
  /end[- ]of[- ](its )?life/i,
  // A validation report about the member that this service writes.
  /^body\.model: /,
  /model identifier|on-demand throughput|\bmodel ID\b.* (isn't|is not)/i,
];

const LOCATION =
  /location is not supported|not (available|supported) in (your|this|the) (country|region|location)|(country|region|territory)[\w, ]* not supported|not enabled (for|in) (your|this|the) (account|project|region|subscription)/i;

/** A number that JSON does not have, out of a model that breaks on the input. */
const NOT_A_NUMBER = /\bNaN\b|unsupported value: [+-]?Inf|not JSON compliant|out of range float/;

export function isAccountProblem(message: string): boolean {
  return ACCOUNT.test(message);
}

/** Null: the words name no class. */
export function wordsClass(text: string, status: number | null): FailureClass | null {
  // Longer texts are pages of proxies, or repeat the input.
  const message = text.slice(0, 2_000);
  if ((status === null || status >= 500) && NOT_A_NUMBER.test(message)) return 'input';
  if (isAccountProblem(message)) return 'account';
  if (BATCH.test(message)) return 'too_large';
  if (CONTEXT.some((words) => words.test(message))) return 'context_length';
  if (MODEL.some((words) => words.test(message)) || LOCATION.test(message)) return 'endpoint';
  return null;
}
