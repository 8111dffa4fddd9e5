// The notification that the generation log of a workspace has grown.

/** The notification channel in the database. */
export const GENERATIONS_CHANNEL = 'generations_appended';

export interface GenerationsAppended {
  readonly workspaceId: string;
  /** The replica that served the calls. It ensures that a process delivers them. */
  readonly replicaId: string;
}

/** Writes the payload. The workspace comes first, because earlier versions sent nothing else. */
export function writeGenerationsAppended({ workspaceId, replicaId }: GenerationsAppended): string {
  return `${workspaceId} ${replicaId}`;
}

export function readGenerationsAppended(payload: string): GenerationsAppended {
  const [workspaceId = '', replicaId = ''] = payload.split(' ');
  return { workspaceId, replicaId };
}
