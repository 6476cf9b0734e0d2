import { useTranslation } from 'react-i18next';

/*
 * What a report says is one English sentence for each cell, made in Go (sdk/scaling). Here each phrase has its Chinese. What comes from
 * elsewhere, such as the reason why a run failed, stays as it is.
 */

const interval = String.raw`( \(95 %: [^)]*\))?`;

const phrases: [RegExp, string][] = [
  // verdicts
  [
    new RegExp(String.raw`(\d+) ranks?: ([\d.−]+ %) efficient${interval}, ([\d.]+) times the throughput of (\d+)`),
    '$1 个 rank：效率 $2$3，吞吐量为 $5 个 rank 的 $4 倍',
  ],
  [/; ranks lose speed$/, '；每个 rank 变慢'],
  [/; faster than linear$/, '；快于线性'],
  [/; no loss shown, it is at most ([\d.]+ %)$/, '；未见损失，最多为 $1'],
  [
    /; (\d+) and (\d+) runs are too few to tell, each cell needs (\d+)$/,
    '；$1 次与 $2 次运行不足以判断，每个单元需要 $3 次',
  ],
  [new RegExp(String.raw`^(.*?)(\S+) ([\d.]+ %) faster than (\S+?)${interval}(?=；|$)`), '$1$2 比 $4 快 $3$5'],
  [new RegExp(String.raw`^(.*?)(\S+) ([\d.]+ %) slower than (\S+?)${interval}(?=；|$)`), '$1$2 比 $4 慢 $3$5'],
  [new RegExp(String.raw`^(.*?)(\S+) ([\d.]+ %) higher than (\S+?)${interval}(?=；|$)`), '$1$2 比 $4 高 $3$5'],
  [new RegExp(String.raw`^(.*?)(\S+) ([\d.]+ %) lower than (\S+?)${interval}(?=；|$)`), '$1$2 比 $4 低 $3$5'],
  [/(\S+): no difference above ([\d.]+ %) from (\S+)$/, '$1：与 $3 的差异不超过 $2'],
  [
    /^There is nothing to compare: the runs have one cell with values\.$/,
    '没有可比较的内容：这些运行只有一个单元有数值。',
  ],
  // the method
  [
    /Each run, or each pass of its loop, gives one value\. Figures are medians over runs\. /,
    '每次运行或其循环的每一轮给出一个值。数值为各次运行的中位数。',
  ],
  [
    /A difference counts when the Mann-Whitney test finds it at 5 %, corrected after Holm for (\d+) comparisons?, and the interval of the ratio excludes none\. /,
    'Mann-Whitney 检验在 5 % 水平（对 $1 次比较按 Holm 校正）发现差异，且比值的区间排除无差异时，才算有差异。',
  ],
  [
    /Intervals are of 95 %: of medians by order statistics, which takes 6 runs; of ratios by a bootstrap over runs, which takes 4, seed (\d+)\. /,
    '区间均为 95 %：中位数的区间来自次序统计量，需要 6 次运行；比值的区间来自对运行的自助法，需要 4 次，种子为 $1。',
  ],
  [
    /The smallest effect is what so many runs with this spread show in four of five tries\./,
    '可检出的最小差异是这样的次数和离散程度在五次中有四次能发现的差异。',
  ],
  [
    / Efficiency is the throughput of a rank as a share of that at the base\./,
    '效率是一个 rank 的吞吐量占基准的比例。',
  ],
  [
    / Bus GB\/s is the bus bandwidth of an all-reduce over the same ranks, before the measurement: size \/ time \* 2 \* \(ranks - 1\) \/ ranks, as in nccl-tests \(PERFORMANCE\.md\)\./,
    '总线带宽 GB/s 是测量之前在同样的 rank 上做一次 all-reduce 的总线带宽：大小 / 时间 * 2 * (rank 数 - 1) / rank 数，与 nccl-tests（PERFORMANCE.md）相同。',
  ],
  [/ Costs: (.*)\.$/, '成本：$1。'],
  // warnings
  [
    /(\d+) of (\d+) ranks took part; check how the ranks are started/,
    '$2 个 rank 中只有 $1 个参与；请检查 rank 的启动方式',
  ],
  [
    /whether this is strong or weak scaling is not known: no parameter is named as the batch, or it changes with neither rule/,
    '无法判断是强扩展还是弱扩展：没有参数被指定为批大小，或其变化不符合任何一种',
  ],
  [/the number of ranks is what was asked for; no run has counted them/, 'rank 数为申请的数量；没有运行核实过'],
  [
    /(\d+) of the cells have fewer than (\d+) runs, so that no test can show a difference among (\d+) comparisons?/,
    '$1 个单元的运行少于 $2 次，因此在 $3 次比较中任何检验都无法显示差异',
  ],
  [/^(.*): the bandwidth is not known: (.*)$/, '$1：带宽未知：$2'],
  [/^(\d+) of (\d+) runs do not count$/, '$2 次运行中有 $1 次不计入'],
  [/^(.*) differs between runs and is no axis of this report$/, '$1 在各次运行之间不同，且不是本报告的轴'],
  // failures and refusals
  [/^(\d+) ranks took part; the other runs of this cell had (\d+)$/, '$1 个 rank 参与；此单元的其他运行有 $2 个'],
  [/^it reported no metrics$/, '没有报告任何指标'],
  [/^it did not succeed$/, '没有成功'],
  [/^no run of these has ended$/, '这些运行都尚未结束'],
  [/^no run has the metric "(.*)"; it reported (.*)$/, '没有运行有指标“$1”；报告的指标有 $2'],
  [/^it reported (.*)$/, '报告的指标为 $1'],
  [/^(.*) is the same in all runs; these vary: (.*)$/, '$1 在所有运行中相同；不同的有：$2'],
  [/^(.*) is the same in all runs; no parameter varies$/, '$1 在所有运行中相同；没有参数不同'],
  [/^run (.*): the steps (.*) report (.*); choose one with --step$/, '运行 $1：步骤 $2 都报告 $3；请选择其中一个'],
  [/^no run has (\S+)=(.*), which is to be the base; it is one of (.*)$/, '没有运行的 $1=$2 可作为基准；可选 $3'],
];

export const inChinese = (sentence: string) =>
  phrases
    .reduce((text, [pattern, chinese]) => text.replace(pattern, chinese), sentence)
    .replace(/: (?=\d+ 个 rank：)/, '：');

/** Says a report's sentence in the reader's language. */
export function useReportSentence(): (sentence: string) => string {
  const { i18n } = useTranslation();
  return i18n.language.startsWith('zh') ? inChinese : (sentence) => sentence;
}
