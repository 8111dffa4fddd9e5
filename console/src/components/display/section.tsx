// Parts of a page: the head, sections, and lists of members.
import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';
import styles from './section.module.css';

interface PageProps {
  readonly title: string;
  /** One sentence under the title. */
  readonly description?: ReactNode;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let hasLoaded = false;

/** The frame of every page: sets the title of the document, and takes the focus after a navigation. */
export function Page({ title, description, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · signalbox`;
  }, [title]);
  useEffect(() => {
    // The first page keeps the browser's own start of the focus order.
    if (hasLoaded) heading.current?.focus({ preventScroll: true });
    hasLoaded = true;
  }, []);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.headText}>
          <h1 ref={heading} tabIndex={-1} className={styles.title}>
            <bdi>{title}</bdi>
          </h1>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  /** A table reaches the border of its section. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

export function Section({ title, description, actions, isFlush = false, children }: SectionProps) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <div className={styles.headText}>
          <h2 id={id} className={styles.sectionTitle}>
            {title}
          </h2>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      <div className={isFlush ? styles.flush : styles.body}>{children}</div>
    </section>
  );
}

/** Members of one object, label beside value. */
export function DescriptionList({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.list}>
      {items.map(([label, value]) => (
        <div key={label} className={styles.item}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
