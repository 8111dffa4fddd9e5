// Forbidden content of responses and the log, and the checks of a response.
import { canariesIn, canary } from '../app/canaries.js';
import { hasSchema, OpenApiValidator } from '../app/openapi-validator.js';
import { SENT_WORD } from './hostile-values.js';

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Secrets of the operator and of an account, each with a word that nothing else holds. */
export const PLANTED = {
  providerKey: canary('ProviderKey'),
  ownKey: `${canary('OwnKey')}-${'k'.repeat(20)}`,
  hookHeader: canary('HookHeader'),
  databasePassword: canary('DatabasePassword'),
  /** 32 bytes that read as words when they are decoded. */
  encryptionKey: Buffer.from('canaryEncryptionKey7f3a9cABCDEFG').toString('base64'),
} as const;

// As V8 writes them, and as paths of this project's files would show.
const STACK = /\n\s+at |node:internal|node_modules\/|\.[cm]?[jt]s:\d+:\d+/;
// Statuses of a valid request besides those of its operation: not every operation declares them.
const NOT_OF_AN_OPERATION = new Set([404, 405, 413, 431]);

export class Findings {
  private readonly check = new OpenApiValidator();
  private readonly secrets = new Set<string>();
  private readonly inLog: string[] = [];
  private rest = '';

  /** Registers a secret that must not appear again. */
  keepSecret(secret: string): void {
    this.secrets.add(secret);
  }

  /** The problems of a response; empty: none. */
  problemsOf(method: string, url: string, { status, headers, body }: FuzzAnswer): string[] {
    const text = body.toString('utf8');
    const everything = `${JSON.stringify(headers)}\n${text}`;
    const problems = this.leaksIn(everything);
    if (status === 500 || status === 501) problems.push(`status ${status}: ${text.slice(0, 300)}`);
    if (STACK.test(everything)) problems.push(`a stack trace: ${text.slice(0, 300)}`);
    if (typeof headers['x-request-id'] !== 'string') problems.push('no x-request-id');
    if (status >= 400 && method !== 'HEAD') problems.push(...problemsOfError(status, text));
    const before = this.check.problems.length;
    if (hasSchema(headers['content-type'])) this.check.check({ method, url }, { statusCode: status }, body);
    const undeclared = NOT_OF_AN_OPERATION.has(status) ? / is not declared$/ : null;
    problems.push(...this.check.problems.slice(before).filter((line) => !undeclared?.test(line)));
    return problems;
  }

  /** Reads on in the log. */
  readonly watchLog = (text: string): void => {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.inLog.push(...this.problemsOfLine(line));
    }
  };

  problemsOfLog(): readonly string[] {
    return [...new Set(this.inLog)];
  }

  private problemsOfLine(line: string): string[] {
    const problems = this.leaksIn(line);
    if (line.includes(SENT_WORD)) problems.push(`a caller's words: ${line}`);
    try {
      const entry = JSON.parse(line) as { level?: unknown; status?: unknown };
      if (entry.level === 'fatal' || entry.status === 500) problems.push(`in the log: ${line}`);
    } catch {
      problems.push(`not of the log: ${line}`);
    }
    return problems;
  }

  private leaksIn(text: string): string[] {
    const found = canariesIn(text).map((word) => `a secret: ${word}`);
    for (const secret of this.secrets) if (text.includes(secret)) found.push('a secret: of a key');
    return found.length === 0 ? [] : [...found, text.slice(0, 500)];
  }
}

function problemsOfError(status: number, text: string): string[] {
  try {
    const {
      type,
      error,
      error_description: description,
    } = JSON.parse(text) as {
      type?: unknown;
      error?: { code?: unknown; type?: unknown; message?: unknown } | string;
      error_description?: unknown;
    };
    // OAuth's token endpoint has errors of its own.
    if (typeof error === 'string')
      return typeof description === 'string' ? [] : [`no error body: ${text.slice(0, 300)}`];
    // The paths of Messages have the error of its clients.
    const isNamed = type === 'error' ? typeof error?.type === 'string' : error?.code === status;
    return isNamed && typeof error?.message === 'string' ? [] : [`no error body: ${text.slice(0, 300)}`];
  } catch {
    return [`no error body: ${text.slice(0, 300)}`];
  }
}
