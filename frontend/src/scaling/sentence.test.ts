import { expect, it } from 'vitest';
import { inChinese } from './sentence';

// Sentences as the tests of sdk/scaling have them.
it.each([
  [
    '4 ranks: 89.8 % efficient (95 %: 89.1–90.2 %), 3.59 times the throughput of 1; ranks lose speed',
    '4 个 rank：效率 89.8 % (95 %: 89.1–90.2 %)，吞吐量为 1 个 rank 的 3.59 倍；每个 rank 变慢',
  ],
  [
    'network=eni: 2 ranks: 99.0 % efficient, 1.98 times the throughput of 1; 3 and 3 runs are too few to tell, each cell needs 4',
    'network=eni：2 个 rank：效率 99.0 %，吞吐量为 1 个 rank 的 1.98 倍；3 次与 3 次运行不足以判断，每个单元需要 4 次',
  ],
  ['eni 1.1 % faster than host (95 %: 0.9–1.3 %)', 'eni 比 host 快 1.1 % (95 %: 0.9–1.3 %)'],
  ['eni: no difference above 1.4 % from host', 'eni：与 host 的差异不超过 1.4 %'],
  [
    'Each run, or each pass of its loop, gives one value. Figures are medians over runs. A difference counts when the Mann-Whitney test finds it at 5 %, corrected after Holm for 1 comparison, and the interval of the ratio excludes none. Intervals are of 95 %: of medians by order statistics, which takes 6 runs; of ratios by a bootstrap over runs, which takes 4, seed 1. The smallest effect is what so many runs with this spread show in four of five tries. Efficiency is the throughput of a rank as a share of that at the base. Costs: USD.',
    '每次运行或其循环的每一轮给出一个值。数值为各次运行的中位数。Mann-Whitney 检验在 5 % 水平（对 1 次比较按 Holm 校正）发现差异，且比值的区间排除无差异时，才算有差异。区间均为 95 %：中位数的区间来自次序统计量，需要 6 次运行；比值的区间来自对运行的自助法，需要 4 次，种子为 1。可检出的最小差异是这样的次数和离散程度在五次中有四次能发现的差异。效率是一个 rank 的吞吐量占基准的比例。成本：USD。',
  ],
  [
    'workers=4: the bandwidth is not known: it is measured with Open MPI',
    'workers=4：带宽未知：it is measured with Open MPI',
  ],
  ['3 of 12 runs do not count', '12 次运行中有 3 次不计入'],
])('says %s', (english, chinese) => {
  expect(inChinese(english)).toBe(chinese);
});
