// An object before and after a change, by member.
import { Absent } from '../display/values';
import { changedMembers } from './changed-members';
import type { ObjectChange } from './changed-members';
import styles from './difference.module.css';

export function Difference({ change }: { readonly change: ObjectChange }) {
  const { before, after } = change;
  const members = changedMembers(change);
  return (
    <div className={styles.difference} role="region" aria-label="Difference" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            {before !== null && <th scope="col">Before</th>}
            {after !== null && <th scope="col">After</th>}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.name}>
              <th scope="row">{member.name}</th>
              {before !== null && <Value text={member.before} className={styles.before} />}
              {after !== null && <Value text={member.after} className={styles.after} />}
            </tr>
          ))}
        </tbody>
      </table>
      {members.length === 0 && <p className={styles.same}>No member that is shown has changed.</p>}
    </div>
  );
}

function Value({
  text,
  className,
}: {
  readonly text: string | undefined;
  readonly className: string | undefined;
}) {
  return <td className={className}>{text === undefined ? <Absent /> : <bdi>{text}</bdi>}</td>;
}
