// One measure over time. A chunk of its own, with the library that draws it: load it with `TimeSeries` of lazy-chart.tsx.
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTick, formatUtcDay, formatUtcTick } from '../../format';
import { Time } from '../display/values';
import styles from './time-series.module.css';

export interface TimeSeriesProps {
  /** The name of the measure, for screen readers and over the chart. */
  readonly label: string;
  /** Starts of the periods, in milliseconds. */
  readonly times: readonly number[];
  /** Null: nothing was measured in the period. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number) => string;
  /** The periods are days of the service, which are those of UTC. */
  readonly isDaily: boolean;
  /** Bars for counts and sums, a line for rates and latencies. */
  readonly shape: 'bars' | 'line';
}

const HEIGHT = 200;
const AXIS_WIDTH = 64;
const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
const FEW = 40;

/** The colours of tokens as the canvas needs them. */
function readColours(element: HTMLElement) {
  const probe = document.createElement('span');
  element.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    accent: read('--accent'),
    soft: read('--accent-soft'),
    grid: read('--border'),
    text: read('--text-muted'),
  };
  probe.remove();
  return colours;
}

export function TimeSeriesChart(props: TimeSeriesProps) {
  const { label, times, values, format, formatAxis, isDaily, shape } = props;
  const canvas = useRef<HTMLDivElement>(null);
  const [index, setIndex] = useState<number | null>(null);

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const colours = readColours(element);
    const period = ((times[1] ?? 0) - (times[0] ?? 0)) / SECOND_MS;
    const axis = {
      stroke: colours.text,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        tzDate: (seconds) => {
          const date = new Date(seconds * SECOND_MS);
          return isDaily ? uPlot.tzDate(date, 'UTC') : date;
        },
        cursor: { y: false, drag: { x: false, y: false } },
        // Half a period at both ends, for the first and the last bar.
        scales: {
          x: { range: (_plot, low, high) => [low - period / 2, high + period / 2] },
          y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_plot, splits, _axis, _space, step) =>
              splits.map((split) =>
                isDaily
                  ? formatUtcTick(split * SECOND_MS)
                  : formatTick(split * SECOND_MS, step >= DAY_SECONDS),
              ),
          },
          { ...axis, size: AXIS_WIDTH, values: (_plot, splits) => splits.map(formatAxis) },
        ],
        series: [
          {},
          {
            label,
            stroke: colours.accent,
            fill: shape === 'bars' ? colours.accent : colours.soft,
            width: shape === 'bars' ? 0 : 2,
            // A value between two gaps has no line.
            points: { show: shape === 'line' && values.filter((value) => value !== null).length < FEW },
            ...(shape === 'bars' && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.7, 28] }) } : {}),
          },
        ],
        hooks: { setCursor: [({ cursor }) => setIndex(cursor.idx ?? null)] },
      },
      [times.map((time) => time / SECOND_MS), [...values]],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [label, times, values, formatAxis, isDaily, shape]);

  const value = index === null ? undefined : values[index];
  const time = index === null ? undefined : times[index];
  const iso = time === undefined ? undefined : new Date(time).toISOString();
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <span>{label}</span>
        {iso !== undefined && (
          <span className={styles.reading}>
            {isDaily ? formatUtcDay(iso) : <Time at={iso} />}{' '}
            <strong>{value === null || value === undefined ? 'none' : format(value)}</strong>
          </span>
        )}
      </figcaption>
      <div
        ref={canvas}
        className={styles.canvas}
        role="img"
        aria-label={`${label}: ${describe(values, format)}`}
      />
    </figure>
  );
}

function describe(values: readonly (number | null)[], format: (value: number) => string): string {
  const present = values.filter((value) => value !== null);
  if (present.length === 0) return 'no data';
  return `from ${format(Math.min(...present))} to ${format(Math.max(...present))}`;
}
