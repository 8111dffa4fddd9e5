import { lazy, Suspense, useEffect, useState } from 'react';
import { useTheme } from '../../app/theme';
import type { TimeSeriesProps } from './time-series';
import styles from './time-series.module.css';

const Chart = lazy(async () => ({ default: (await import('./time-series')).TimeSeriesChart }));

/** Keeps the height of the chart while it loads. The canvas is drawn again in the colours of another theme. */
export function TimeSeries(props: TimeSeriesProps) {
  const theme = useTheme();
  const isDark = useIsDark();
  return (
    <Suspense fallback={<div className={styles.loading} />}>
      <Chart key={`${theme} ${isDark}`} {...props} />
    </Suspense>
  );
}

function useIsDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setDark(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isDark;
}
