// Measures over time. A chunk of its own, with the library that draws it: load it with `TimeSeries` of lazy-chart.tsx.
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatTick, formatUtcDay, formatUtcTick } from '../../format';
import { Time } from '../display/values';
import { stack, totalsOf } from './stack';
import { ticksUpTo } from './ticks';
import styles from './time-series.module.css';

export interface Series {
  readonly name: string;
  /** Null: nothing was measured in the period. */
  readonly values: readonly (number | null)[];
}

export interface TimeSeriesProps {
  /** The name of the measure, for screen readers and over the chart. */
  readonly label: string;
  /** Starts of the periods, in milliseconds. */
  readonly times: readonly number[];
  /** The length of a period, in milliseconds. */
  readonly period: number;
  /** At most six. Bars of several are stacked. */
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number) => string;
  /** The periods are days of the service, which are those of UTC. */
  readonly isDaily: boolean;
  /** Bars for counts and sums, a line for rates and latencies. */
  readonly shape: 'bars' | 'line';
  /** The measure has whole values only, and so has its axis. */
  readonly isWhole?: boolean;
}

const HEIGHT = 200;
const AXIS_WIDTH = 64;
const AXIS_HEIGHT = 26;
const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
const FEW = 40;
const COLOURS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];

/** The colour of a token as the canvas needs it. A new element for each: one that has a colour passes to the next slowly. */
function readColour(element: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

export function TimeSeriesChart(props: TimeSeriesProps) {
  const { label, times, period, series, format, formatAxis, isDaily, shape, isWhole = false } = props;
  const canvas = useRef<HTMLDivElement>(null);
  const [index, setIndex] = useState<number | null>(null);

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const read = (token: string) => readColour(element, token);
    const isBars = shape === 'bars';
    const half = period / SECOND_MS / 2;
    // Of a single period uPlot would widen the range to months.
    const [start, end] = [(times[0] ?? 0) / SECOND_MS, (times.at(-1) ?? 0) / SECOND_MS];
    const axis = {
      stroke: read('--text-muted'),
      grid: { stroke: read('--border'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif',
    };
    const drawn = isBars ? stack(series.map(({ values }) => values)) : series.map(({ values }) => values);
    const lines = drawn.map((values, position): uPlot.Series => {
      const colour = read(COLOURS[position] ?? '--text-muted');
      return {
        stroke: colour,
        width: isBars ? 0 : 2,
        // A value between two gaps has no line.
        points: { show: !isBars && values.filter((value) => value !== null).length < FEW },
        ...(isBars ? { fill: colour } : series.length === 1 ? { fill: read('--accent-soft') } : {}),
        ...(isBars && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.7, 28] }) } : {}),
      };
    });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        tzDate: (seconds) => {
          const date = new Date(seconds * SECOND_MS);
          return isDaily ? uPlot.tzDate(date, 'UTC') : date;
        },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
        // Half a period at both ends, for the first and the last bar.
        scales: {
          x: { range: [start - half, end + half] },
          y: { range: (_plot, _low, high) => [0, ticksUpTo(high ?? 0, isWhole).at(-1) ?? 1] },
        },
        axes: [
          {
            ...axis,
            size: AXIS_HEIGHT,
            grid: { show: false },
            ...(isDaily ? { incrs: [1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY_SECONDS) } : {}),
            values: (_plot, splits, _axis, _space, step) =>
              splits.map((split) =>
                isDaily
                  ? formatUtcTick(split * SECOND_MS)
                  : formatTick(split * SECOND_MS, step >= DAY_SECONDS),
              ),
          },
          {
            ...axis,
            size: AXIS_WIDTH,
            splits: (_plot, _axis, _low, high) => [...ticksUpTo(high, isWhole)],
            values: (_plot, splits) => splits.map(formatAxis),
          },
        ],
        // Stacked bars reach to the ground: the highest are drawn first, and the lower ones over them.
        series: [{}, ...(isBars ? lines.toReversed() : lines)],
        hooks: { setCursor: [({ cursor }) => setIndex(cursor.idx ?? null)] },
      },
      [
        times.map((time) => time / SECOND_MS),
        ...(isBars ? drawn.toReversed() : drawn).map((values) => values.slice()),
      ],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, period, series, formatAxis, isDaily, shape, isWhole]);

  const time = index === null ? undefined : times[index];
  const iso = time === undefined ? undefined : new Date(time).toISOString();
  const show = (value: number | null | undefined) =>
    value === null || value === undefined ? 'none' : format(value);
  // Several lines have no sum.
  const isSummed = shape === 'bars' || series.length === 1;
  const totals = totalsOf(series.map(({ values }) => values));
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <span>{label}</span>
        {iso !== undefined && index !== null && (
          <span className={styles.reading}>
            {isDaily ? formatUtcDay(iso) : <Time at={iso} />}{' '}
            {isSummed && <strong>{show(totals[index])}</strong>}
          </span>
        )}
      </figcaption>
      <div
        ref={canvas}
        className={styles.canvas}
        role="img"
        aria-label={`${label}: ${
          isSummed
            ? describe(totals, format)
            : series.map(({ name, values }) => `${name} ${describe(values, format)}`).join('; ')
        }`}
      />
      {series.length > 1 && (
        <ul className={styles.legend} aria-label="Legend">
          {series.map(({ name, values }, position) => (
            <li key={name} className={styles.legendItem}>
              <span
                className={styles.swatch}
                style={{ background: `var(${COLOURS[position] ?? '--text-muted'})` }}
              />
              <bdi className={styles.legendName} title={name}>
                {name}
              </bdi>
              {index !== null && <strong className={styles.legendValue}>{show(values[index])}</strong>}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

function describe(values: readonly (number | null)[], format: (value: number) => string): string {
  const present = values.filter((value) => value !== null);
  if (present.length === 0) return 'no data';
  return `from ${format(Math.min(...present))} to ${format(Math.max(...present))}`;
}
