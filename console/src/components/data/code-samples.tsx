import { Tabs } from '@base-ui/react/tabs';
import { CodeBlock } from './code-block';
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
