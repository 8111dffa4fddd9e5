// Why a person is not signed in, as the pages of the console say it.

export type SignInRefusal =
  /** No sign-in was begun in this browser, or another one since. */
  | 'not_begun'
  /** The answer fails a check. All checks have this one text. */
  | 'invalid'
  /** The issuer did not sign the person in. */
  | 'refused'
  | 'unavailable'
  | 'no_account'
  | 'domain'
  | 'groups_missing'
  | 'groups_overage'
  | 'disabled';

export class SignInRefused extends Error {
  constructor(
    readonly refusal: SignInRefusal,
    /** For the log: without a token. */
    readonly reason: string,
    /** A word that the page shows, such as the error code of the issuer. */
    readonly word: string | null = null,
  ) {
    super(reason);
  }
}
