// Checks the log of every test app: one JSON object a line, and nothing secret in it whatever the test sends.
import { canariesIn } from './canaries.js';

// Whole secrets: keys of this service, of webhooks, of providers and platforms as the tests' own bodies name them.
const SECRETS = [
  /sk-sb-[vt]1-[0-9a-f]{64}/,
  // Tokens of issuers.
  /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/,
  /whsec_[\w+/]{20,}/,
  /Bearer \S{8,}/i,
  /postgres(?:ql)?:\/\/[^\s"]*:[^\s"@]*@/,
];
const MAX_SHOWN = 300;

export class LogChecker {
  /** The problems, one line each. */
  readonly problems: string[] = [];

  /** `secrets` are what else must not be found. */
  constructor(private readonly secrets: readonly string[]) {}

  /** As the destination of the log. */
  write(line: string): void {
    const found = [
      ...canariesIn(line),
      ...SECRETS.filter((secret) => secret.test(line)).map((secret) => secret.source),
      ...this.secrets.filter((secret) => line.includes(secret)),
      ...(isOneObject(line) ? [] : ['no JSON object on one line']),
    ];
    if (found.length > 0) this.problems.push(`${found.join(', ')}: ${line.slice(0, MAX_SHOWN)}`);
  }
}

function isOneObject(line: string): boolean {
  try {
    return line.indexOf('\n') === line.length - 1 && typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
