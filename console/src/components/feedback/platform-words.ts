// The answer of a platform in words, where it has none itself: `HTTP 401: {}`.

const WORDLESS = /^HTTP ([1-5]\d\d)(?:: (?:\{ ?\}|\[ ?\]|null|""|error|unauthorized|forbidden|not found))?$/i;

const BY_STATUS: Readonly<Record<string, string>> = {
  '400': 'The platform cannot read the request',
  '401': 'The credential is refused',
  '403': 'The credential may not write',
  '404': 'Nothing answers at this address',
  '413': 'The request is too large for the platform',
  '429': 'The platform takes no more requests now',
};

export function platformWords(message: string): string {
  const [, status] = WORDLESS.exec(message.trim()) ?? [];
  if (status === undefined) return message;
  const words = BY_STATUS[status] ?? (status >= '500' ? 'The platform fails' : 'The platform refuses');
  return `${words} (HTTP ${status})`;
}
