// The end of the session leads to the sign-in page, but not away from a secret, which is shown once: it waits for it.

let holds = 0;
let waiting: (() => void) | null = null;

/** Calls `leave` when nothing holds the page. */
export function leavePage(leave: () => void): void {
  if (holds === 0) leave();
  else waiting = leave;
}

/** Holds the page until the returned function is called. */
export function holdPage(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
    if (holds > 0 || waiting === null) return;
    const leave = waiting;
    waiting = null;
    leave();
  };
}
