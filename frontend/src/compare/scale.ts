/** A few round numbers from low to high. */
export function ticks(low: number, high: number, count = 5): number[] {
  if (low === high) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step) * step;
  const all: number[] = [];
  // Sums of steps gather errors of rounding, and products do not.
  for (let i = 0; first + i * step <= high + step * 1e-9; i++) all.push(Number((first + i * step).toPrecision(12)));
  return all;
}

/** Where values lie between two ends of a picture. */
export function scale(values: number[], from: number, to: number) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low === high) {
    low -= Math.abs(low) * 0.1 || 1;
    high += Math.abs(high) * 0.1 || 1;
  }
  const pad = (high - low) * 0.05;
  low -= pad;
  high += pad;
  return { low, high, at: (value: number) => from + ((value - low) / (high - low)) * (to - from) };
}
