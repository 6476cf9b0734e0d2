import { describe, expect, it } from 'vitest';
import { throughput } from './throughput';

describe('throughput', () => {
  it('reads what tf_cnn_benchmarks prints', () => {
    const log = [
      'Step\tImg/sec\ttotal_loss',
      '1\timages/sec: 180.2 +/- 0.0 (jitter = 0.0)\t7.9',
      '10\timages/sec: 189.6 +/- 0.4 (jitter = 1.2)\t7.853',
      'total images/sec: 379.20',
    ];
    expect(throughput(log)).toEqual({ step: [1, 10], rate: [180.2, 189.6], spread: [0, 0.4] });
  });

  it('takes each step once when every rank prints it', () => {
    const log = [
      '[1,0]<stdout>:1\timages/sec: 10 +/- 1 (jitter = 0)\t1',
      '[1,1]<stdout>:1\timages/sec: 11 +/- 1 (jitter = 0)\t1',
    ];
    expect(throughput(log)).toEqual({ step: [1], rate: [10], spread: [1] });
  });

  it('finds nothing in other lines', () => {
    expect(throughput(['images/sec', 'x images/sec: 1', '']).step).toEqual([]);
  });
});
