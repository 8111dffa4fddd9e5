import { lazy, Suspense, useEffect, useState } from 'react';
import { useTheme } from '../../app/use-theme';
import type { TimeSeriesProps } from './time-series';
import styles from './time-series.module.css';

const load = async () => ({ default: (await import('./time-series')).TimeSeriesChart });
const Chart = lazy(load);

/** Keeps the height of the chart while it loads. The canvas is drawn again in the colours of another theme. */
export function TimeSeries(props: TimeSeriesProps) {
  const theme = useTheme();
  const isDark = useIsDark();
  return (
    <Suspense fallback={<ChartPlaceholder />}>
      <Chart key={`${theme} ${isDark}`} {...props} />
    </Suspense>
  );
}

/** While the data load: the chart loads beside them. */
export function ChartPlaceholder() {
  useEffect(() => void load(), []);
  return <div className={styles.loading} role="status" aria-label="Loading" />;
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
