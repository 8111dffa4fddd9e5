// Known before the large scripts have arrived: the kind of key that signed in with this browser, and the session's answer.

declare global {
  interface Window {
    /** Of the request that the first script has sent. */
    signalboxSession?: Promise<Response> | undefined;
  }
}

const STORED = 'signalbox-session';
export const SESSION_PATH = '/console/session';
export const CONSOLE_HEADERS = { 'X-Signalbox-Console': '1' };

/** The kind of key of the last session of this browser; null: signed out. */
export function readSessionKind(): string | null {
  return localStorage.getItem(STORED);
}

export function storeSessionKind(kind: string | null): void {
  if (kind === null) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, kind);
}

/** Once: what is asked later needs an answer of its own. */
export function takeFirstSession(): Promise<Response> | undefined {
  const sent = window.signalboxSession;
  window.signalboxSession = undefined;
  return sent;
}
