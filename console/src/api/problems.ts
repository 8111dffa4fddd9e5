// Problems of a body by the member that has them, from the message of a 400.
import { capitalise } from '../format';
import { ApiError } from './client';

const FIRST_WORDS = 'Invalid request parameters: ';
/** `name: must be ...`, `limit: ...`, `external.user: ...`. */
const PROBLEM = /^([\w.[\]-]+): (.+)$/s;
/** `ignored_models[0]` */
const ENTRY = /^(.+)\[(\d+)\]$/;

export interface Problems {
  /** By the path of the member. */
  readonly members: Readonly<Record<string, string>>;
  /** The message, when no member has the problem. */
  readonly general: string | null;
}

/** `known` are the members that a form shows; a problem of another member stays in the general text. */
export function readProblems(error: unknown, known: readonly string[]): Problems {
  if (error === null || error === undefined) return { members: {}, general: null };
  if (!(error instanceof ApiError) || error.status !== 400 || !error.message.startsWith(FIRST_WORDS)) {
    return { members: {}, general: messageOf(error) };
  }
  const members: Record<string, string> = {};
  const rest: string[] = [];
  for (const problem of error.message.slice(FIRST_WORDS.length).split('; ')) {
    const [, path = '', text = ''] = PROBLEM.exec(problem) ?? [];
    const [, list = '', index = ''] = ENTRY.exec(path) ?? [];
    if (known.includes(path)) members[path] ??= capitalise(text);
    else if (known.includes(list)) members[list] ??= `Entry ${Number(index) + 1} ${text}`;
    else rest.push(problem);
  }
  return { members, general: rest.length === 0 ? null : capitalise(rest.join('; ')) };
}

/** A problem that the page finds before it asks the service, as the service would name it. */
export const memberProblem = (member: string, problem: string): ApiError =>
  new ApiError(400, `${FIRST_WORDS}${member}: ${problem}`, null, {});

/** The error with the problems of members that the form knows by other names. `rename` gets the path with the problem. */
export function renameProblems(error: unknown, rename: (problem: string) => string): unknown {
  if (!(error instanceof ApiError) || error.status !== 400 || !error.message.startsWith(FIRST_WORDS))
    return error;
  // A semicolon would divide it.
  const problem = rename(error.message.slice(FIRST_WORDS.length).replaceAll('; ', ', '));
  return new ApiError(error.status, `${FIRST_WORDS}${problem}`, error.requestId, error.metadata);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
