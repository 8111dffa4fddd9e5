// How those who deliver are told that the log has grown, and by whom.

/** The channel of the database that it is told on. */
export const GENERATIONS_CHANNEL = 'generations_appended';

export interface GenerationsAppended {
  readonly workspaceId: string;
  /** Whose calls they were: of all replicas that one sees to it that somebody delivers. */
  readonly replicaId: string;
}

/** The notification's payload. The workspace comes first: earlier versions have sent nothing else. */
export function writeGenerationsAppended({ workspaceId, replicaId }: GenerationsAppended): string {
  return `${workspaceId} ${replicaId}`;
}

export function readGenerationsAppended(payload: string): GenerationsAppended {
  const [workspaceId = '', replicaId = ''] = payload.split(' ');
  return { workspaceId, replicaId };
}
