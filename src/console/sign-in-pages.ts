// The pages that say why a person is not signed in.
import { AppError } from '../domain/errors.js';
import type { SignInRefusal, SignInRefused } from '../people/sign-in-refused.js';
import type { HtmlPage } from './html-page.js';

type Page = Pick<HtmlPage, 'status' | 'title'> & { readonly text: (word: string) => string };

const FAILED = 'Sign-in failed';
const ADMINISTRATOR = 'Ask an administrator of this service.';

const PAGES: Readonly<Record<SignInRefusal, Page>> = {
  not_begun: {
    status: 400,
    title: 'Start the sign-in again',
    text: () =>
      'This browser has not begun this sign-in, has begun another one since, or has taken longer than ten minutes.',
  },
  invalid: {
    status: 403,
    title: FAILED,
    text: () => 'The answer of the identity provider is not valid.',
  },
  refused: {
    status: 403,
    title: FAILED,
    text: (word) => `The identity provider did not sign you in: ${word}.`,
  },
  unavailable: {
    status: 503,
    title: 'The identity provider cannot be reached',
    text: () => 'Try again in a minute. Sign-in with a key works without it.',
  },
  no_account: {
    status: 503,
    title: 'Sign-in is not configured',
    text: () => 'OIDC_ACCOUNT must name the account that people sign in to.',
  },
  domain: {
    status: 403,
    title: FAILED,
    text: () => `Your verified e-mail address is in no domain that may sign in. ${ADMINISTRATOR}`,
  },
  groups_missing: {
    status: 403,
    title: FAILED,
    text: (word) =>
      `Roles depend on your groups, and the identity provider sent no claim ${word}. An administrator makes the provider ` +
      'send it, or sets OIDC_GROUPS_CLAIM and OIDC_SCOPES. Your roles are unchanged.',
  },
  groups_overage: {
    status: 403,
    title: FAILED,
    text: (word) =>
      `You are in more groups than the identity provider puts into the claim ${word}. An administrator makes the provider send ` +
      'only the groups that are assigned to this application. Your roles are unchanged.',
  },
  disabled: {
    status: 403,
    title: FAILED,
    text: () => `You may not sign in to this service. ${ADMINISTRATOR}`,
  },
};

export function pageOfRefusal(
  { refusal, word }: SignInRefused,
  requestId: string,
  signInPage: string,
): HtmlPage {
  const { status, title, text } = PAGES[refusal];
  return pageOf(status, title, text(word ?? ''), requestId, signInPage);
}

/** A failure of the service itself, or too many requests. */
export function pageOfError(error: AppError, requestId: string, signInPage: string): HtmlPage {
  return pageOf(error.status, FAILED, error.message, requestId, signInPage);
}

function pageOf(
  status: number,
  title: string,
  text: string,
  requestId: string,
  signInPage: string,
): HtmlPage {
  return {
    status,
    title,
    paragraphs: [text, `Request ${requestId}`],
    link: { href: signInPage, text: 'Back to the sign-in page' },
  };
}
