import { lazy, Suspense } from 'react';
import type { TimeSeriesProps } from './time-series';
import styles from './time-series.module.css';

const Chart = lazy(async () => ({ default: (await import('./time-series')).TimeSeriesChart }));

/** Keeps the height of the chart while it loads. */
export function TimeSeries(props: TimeSeriesProps) {
  return (
    <Suspense fallback={<div className={styles.loading} />}>
      <Chart {...props} />
    </Suspense>
  );
}
