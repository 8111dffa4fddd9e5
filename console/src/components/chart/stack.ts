// Bars on top of each other.

type Values = readonly (number | null)[];

/** The heights that each series reaches when it stands on those before it. */
export function stack(series: readonly Values[]): readonly (readonly number[])[] {
  let ground: readonly number[] = (series[0] ?? []).map(() => 0);
  return series.map((values) => {
    ground = ground.map((height, index) => height + (values[index] ?? 0));
    return ground;
  });
}

/** The sums of all series. Null: none has a value. */
export function totalsOf(series: readonly Values[]): Values {
  return (series[0] ?? []).map((_value, index) => {
    const present = series.map((values) => values[index] ?? null).filter((value) => value !== null);
    return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0);
  });
}
