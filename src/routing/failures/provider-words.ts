// A provider's words as a caller may read them: without secrets, and without names of the operator's inside.
import { maskSecret } from '../../domain/text/masking.js';

/** Names of one call that must not leave. */
export interface InnerNames {
  readonly apiKeys: readonly (string | undefined)[];
  readonly baseUrl: string;
  /** The upstream's name of the model may be a deployment or an ARN; callers know the model's id. */
  readonly upstreamModel: string;
  readonly modelId: string;
}

// More than a caller ever sees of it.
const MAX_LENGTH = 4_096;
// Shorter parts of a credential are no secrets: versions, regions.
const SHORTEST_SECRET = 8;

/** By form. Each is replaced wherever it comes from: no caller needs it to understand an error. */
const INNER_FORMS: readonly (readonly [RegExp, string])[] = [
  [/\barn:aws[\w-]*:[^\s"'<>,)]+/gi, '[resource]'],
  [/\/?\b(subscriptions|resourceGroups|projects|organizations|tenants)\/[\w./:@-]+/gi, '[resource]'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '[id]'],
  [/\b(org|proj|project|user|acct|team|workspace|ws)[-_](?=[A-Za-z]{0,30}\d)[A-Za-z0-9]{6,64}\b/g, '[id]'],
  [/\b(sk|pk|rk|pa|gsk|hf|jina|nk|AIza|xai|eyJ)[-_]?[\w.-]{16,}/g, '[key]'],
  [/\b(AKIA|ASIA)[0-9A-Z]{12,}\b/g, '[key]'],
  [/\bbearer\s+[^\s"',]+/gi, '[key]'],
  [/\b\d{12}\b/g, '[account]'],
  [/\bproject(_number| number)?[: ]+["']?\d{6,}/gi, '[resource]'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}/g, '[address]'],
  [/https?:\/\/(?:localhost|[\w-]+|[\d.]+|\[[^\]]+\])(?::\d+)?(?=[/\s"'<>,)]|$)[^\s"'<>,)]*/gi, '[address]'],
  [
    /(?:\bhttps?:\/\/)?\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.(?:internal|local|localdomain|localhost|lan|corp|intranet|svc|test)\b(?:[:/][^\s"'<>,)]*)?/gi,
    '[address]',
  ],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, '[address]'],
  [
    /\[?(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}\]?(?::\d+)?|\[?(?:[0-9a-f]{1,4})?::[0-9a-f:]+\]?(?::\d+)?/gi,
    '[address]',
  ],
  [/\blocalhost(?::\d+)?\b/gi, '[address]'],
  [/(?<![\w/])\/(?:usr|home|opt|var|app|srv|root|workspace|mnt|data)\/[\w./-]+/g, '[path]'],
];

export function withoutInnerNames(words: string, names: InnerNames): string {
  return masked(words.slice(0, MAX_LENGTH), names);
}

export function hasInnerNames(words: string, names: InnerNames): boolean {
  return masked(words, names) !== words;
}

function masked(words: string, names: InnerNames): string {
  let text = words;
  for (const secret of secretsOf(names)) text = text.replaceAll(secret, maskSecret(secret));
  text = withoutUpstreamModel(text, names);
  for (const host of hostsOf(names.baseUrl)) text = text.replaceAll(host, '[address]');
  for (const [form, replacement] of INNER_FORMS) text = text.replace(form, replacement);
  return text;
}

/** The title alone of a proxy's page: clients show the words to people. Empty without one. */
export function withoutMarkup(words: string): string {
  const isPage = /^\s*<(!doctype|html|head|body|center|h1)\b/i.test(words);
  return isPage ? (/<(title|h1)[^>]*>([^<]+)</i.exec(words)?.[2]?.trim() ?? '') : words;
}

export function inOneLine(words: string): string {
  return withoutMarkup(words).replace(/\s+/g, ' ').trim();
}

function secretsOf({ apiKeys, baseUrl }: InnerNames): string[] {
  const { username, password } = parsed(baseUrl);
  const whole = apiKeys.flatMap((key) => key ?? []);
  const parts = [...whole.flatMap((key) => key.split(':')), decodeURIComponent(password), username];
  const secrets = [...whole, ...parts].filter(({ length }) => length >= SHORTEST_SECRET);
  return [...new Set(secrets)].toSorted((one, other) => other.length - one.length);
}

function hostsOf(baseUrl: string): string[] {
  const { host, hostname } = parsed(baseUrl);
  return [baseUrl, host, hostname].filter((text) => text !== '');
}

function parsed(baseUrl: string): Pick<URL, 'host' | 'hostname' | 'username' | 'password'> {
  return URL.canParse(baseUrl) ? new URL(baseUrl) : { host: '', hostname: '', username: '', password: '' };
}

/** A name that the model's id ends with is public. */
function withoutUpstreamModel(text: string, { upstreamModel, modelId }: InnerNames): string {
  if (upstreamModel === '' || modelId.endsWith(`/${upstreamModel}`) || modelId === upstreamModel) return text;
  const escaped = upstreamModel.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  return text.replace(new RegExp(String.raw`(?<![\w-])${escaped}(?![\w-])`, 'g'), () => modelId);
}
