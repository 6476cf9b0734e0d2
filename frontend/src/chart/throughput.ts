import { plain } from '../logs/lines';

/** Throughput over steps, as a training log prints it. */
export interface Curve {
  step: number[];
  rate: number[];
  /** Half-width of the printed uncertainty (+/-); zero when none was printed. */
  spread: number[];
}

// tf_cnn_benchmarks: `10<tab>images/sec: 189.6 +/- 0.4 (jitter = 1.2)<tab>7.853`. Whatever mpirun puts before the step
// (`[1,0]<stdout>:`) is let through.
const line = /(?:^|[^\d.])(\d+)\timages\/sec: (\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: \+\/- (\d+(?:\.\d+)?))?/;

/** Reads the throughput curve out of a log; steps that are printed twice keep their first value. */
export function throughput(lines: string[]): Curve {
  const curve: Curve = { step: [], rate: [], spread: [] };
  for (const text of lines) {
    if (!text.includes('images/sec')) continue;
    const found = line.exec(plain(text));
    if (!found) continue;
    const step = Number(found[1]);
    // A step that goes back is another rank's line or a repeated one: a curve has one value per step.
    if (curve.step.length > 0 && step <= (curve.step.at(-1) as number)) continue;
    curve.step.push(step);
    curve.rate.push(Number(found[2]));
    curve.spread.push(Number(found[3] ?? 0));
  }
  return curve;
}
