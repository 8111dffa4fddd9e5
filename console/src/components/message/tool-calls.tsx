// Calls of tools as a model asked for them, each with its result.
import { CopyButton } from '../actions/copy-button';
import { Name } from '../display/values';
import styles from './tool-calls.module.css';

export interface ShownToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, unless it was cut. */
  readonly arguments: string;
  /** Absent: the model has not read one yet. */
  readonly result?: string | undefined;
}

export function ToolCalls({ calls }: { readonly calls: readonly ShownToolCall[] }) {
  if (calls.length === 0) return null;
  return (
    <ul className={styles.calls} aria-label="Tool calls">
      {calls.map(({ id, name, arguments: values, result }, index) => (
        // A fragment may come before its id; the order never changes.
        <li key={index} className={styles.call} title={id}>
          <code className={styles.name}>
            <Name text={name} />
          </code>
          <div className={styles.sides}>
            <Side title="Arguments" text={values} />
            {result !== undefined && <Side title="Result" text={result} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Side({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className={styles.side}>
      <div className={styles.head}>
        {title}
        <CopyButton text={text} what={title.toLowerCase()} />
      </div>
      <pre className={styles.json} dir="auto">
        {prettyJson(text)}
      </pre>
    </div>
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
