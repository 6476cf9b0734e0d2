import type { ScalingCell } from '../api/scaling';
import { ticks } from '../compare/scale';
import { numberFormat } from '../format/format';

/** A value in five digits, as argosy report writes it. */
export const figure = (value: number, language: string) =>
  numberFormat(language, { maximumSignificantDigits: 5 }).format(value);

export const percent = (share: number, language: string, decimals = 1) =>
  numberFormat(language, {
    style: 'percent',
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(share);

export const money = (value: number, language: string) =>
  numberFormat(language, value < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }).format(value);

export const probability = (p: number, language: string) =>
  p < 0.001 ? `< ${numberFormat(language).format(0.001)}` : numberFormat(language).format(Number(p.toFixed(3)));

/** The interval of a cell's median, or the range of its values where they are too few for one. */
export function spread(cell: ScalingCell): { low: number; high: number; interval: boolean } | undefined {
  if (cell.low !== undefined && cell.high !== undefined) return { low: cell.low, high: cell.high, interval: true };
  if ((cell.values?.length ?? 0) < 2) return undefined;
  return { low: cell.least ?? 0, high: cell.most ?? 0, interval: false };
}

// With fewer marks an axis does not show how its values lie.
const fewMarks = 3;

/** Round values between two ends of a logarithmic axis: 1, 2 and 5 of each power of ten, or more of them on a short axis. */
export function logTicks(low: number, high: number): number[] {
  const all = powerTicks(low, high);
  return all.length < fewMarks ? ticks(low, high) : all;
}

function powerTicks(low: number, high: number): number[] {
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of [1, 2, 5]) {
      const value = Number((step * 10 ** power).toPrecision(12));
      if (value >= low && value <= high) all.push(value);
    }
  }
  return all;
}

/** The name of a cell, as differences have it. */
export const cellName = (cell: ScalingCell) =>
  Object.entries(cell.parameters ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
