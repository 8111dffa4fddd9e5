import { Tabs } from '@base-ui/react/tabs';
import { CopyButton } from '../actions/copy-button';
import styles from './code-samples.module.css';

export interface CodeSample {
  /** "curl", "TypeScript", "Python". */
  readonly language: string;
  readonly code: string;
}

export function CodeSamples({
  label,
  samples,
}: {
  readonly label: string;
  readonly samples: readonly CodeSample[];
}) {
  return (
    <Tabs.Root className={styles.samples} defaultValue={samples[0]?.language ?? null}>
      <Tabs.List className={styles.tabs} aria-label={label} activateOnFocus>
        {samples.map(({ language }) => (
          <Tabs.Tab key={language} value={language} className={styles.tab}>
            {language}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ language, code }) => (
        <Tabs.Panel key={language} value={language} className={styles.panel}>
          <CodeBlock code={code} what={`${language} sample`} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

export function CodeBlock({ code, what }: { readonly code: string; readonly what: string }) {
  return (
    <div className={styles.block}>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre className={styles.code} tabIndex={0} role="group" aria-label={what}>
        {code}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={code} what={what} />
      </div>
    </div>
  );
}
