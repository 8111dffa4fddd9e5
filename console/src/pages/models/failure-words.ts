// The last failure of an endpoint in words.

interface LastFailure {
  /** Null: the endpoint has given none. */
  readonly status: number | null;
  readonly class: string;
}

const WORDS: Readonly<Record<string, string>> = {
  broken: 'unusable answer',
  unusable: 'unusable answer',
  timeout: 'no answer in time',
};

export const failureInWords = ({ status, class: failureClass }: LastFailure): string =>
  status === null ? (WORDS[failureClass] ?? 'no answer') : `HTTP ${status}`;
