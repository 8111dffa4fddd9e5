// Something that cannot be had again keeps the page: a secret, which is shown once, and the wait for one.
import { useBlocker } from '@tanstack/react-router';
import type { ShouldBlockFn } from '@tanstack/react-router';
import { useEffect } from 'react';

let holds = 0;
let waiting: (() => void) | null = null;

/** Calls `cover` when nothing holds the page: the sign-in covers the page, but not a secret. */
export function coverPage(cover: () => void): void {
  if (holds === 0) cover();
  else waiting = cover;
}

function holdPage(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
    if (holds > 0 || waiting === null) return;
    const cover = waiting;
    waiting = null;
    cover();
  };
}

// Another search of the same page takes nothing away.
const isOtherPage: ShouldBlockFn = ({ current, next }) => current.pathname !== next.pathname;

/** Links, the history and the end of the session wait. A reload asks first. */
export function useHeldPage(isHeld: boolean): void {
  // Its end comes before that of the hold, which may lead away.
  useBlocker({ shouldBlockFn: isOtherPage, disabled: !isHeld });
  useEffect(() => (isHeld ? holdPage() : undefined), [isHeld]);
}

export interface LeaveQuestion {
  /** The reader is on the way to another page. */
  readonly isAsked: boolean;
  readonly leave: () => void;
  readonly stay: () => void;
}

/** Before another page takes what was typed. The browser asks before it loads the page again or closes it. */
export function useLeaveQuestion(isTyped: boolean): LeaveQuestion {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isOtherPage,
    disabled: !isTyped,
    withResolver: true,
  });
  return { isAsked: status === 'blocked', leave: () => proceed?.(), stay: () => reset?.() };
}

const never: ShouldBlockFn = () => false;

/** The browser asks before it loads the page again or closes it; other pages of the console do not. */
export function useUnloadQuestion(isAsked: boolean): void {
  useBlocker({ shouldBlockFn: never, disabled: !isAsked });
}
