import type { ReactNode } from 'react';
import styles from './stat-tile.module.css';

interface StatTileProps {
  readonly label: string;
  /** Undefined while it loads; the tile keeps its size. */
  readonly value: ReactNode | undefined;
  readonly detail?: ReactNode;
}

export function StatTile({ label, value, detail }: StatTileProps) {
  return (
    <div className={styles.tile}>
      <dt className={styles.label}>{label}</dt>
      <dd className={styles.value} aria-busy={value === undefined || undefined}>
        {value ?? <span className={styles.loading} />}
      </dd>
      {detail !== undefined && <dd className={styles.detail}>{detail}</dd>}
    </div>
  );
}

export function StatTiles({ children }: { readonly children: ReactNode }) {
  return <dl className={styles.tiles}>{children}</dl>;
}
