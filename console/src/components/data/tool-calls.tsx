// Calls of tools as a model asked for them.
import { CopyButton } from '../actions/copy-button';
import { Name } from '../display/values';
import styles from './tool-calls.module.css';

export interface ShownToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, unless it was cut. */
  readonly arguments: string;
}

export function ToolCalls({ calls }: { readonly calls: readonly ShownToolCall[] }) {
  if (calls.length === 0) return null;
  return (
    <ul className={styles.calls} aria-label="Tool calls">
      {calls.map(({ id, name, arguments: values }, index) => (
        // A fragment may come before its id; the order never changes.
        <li key={index} className={styles.call} title={id}>
          <div className={styles.head}>
            <code className={styles.name}>
              <Name text={name} />
            </code>
            <CopyButton text={values} what="arguments" />
          </div>
          <pre className={styles.json} dir="auto">
            {prettyJson(values)}
          </pre>
        </li>
      ))}
    </ul>
  );
}

/** With line breaks, where the text is JSON. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
