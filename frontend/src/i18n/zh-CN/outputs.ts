import type { outputs as en } from '../en/outputs';
import type { Texts } from '../texts';

/** Chinese texts of what runs leave. */
export const outputs: Texts<typeof en> = {
  outputs: {
    none: '此运行没有留下文件',
    noneYet: '还没有产出',
    teach:
      '步骤声明为输出的文件会出现在这里；写入 mlpipeline-ui-metadata 的内容会被画出：表格、文本、ROC 曲线、混淆矩阵和网页。',
    reportOf: '{{step}} 的报告',
    artifact: '产物',
    size: '大小',
    artifactOf: '{{step}} 的 {{name}}',
    file: '产物中的文件',
    sizes: '{{size}}（存储为 {{stored}}）',
    asStored: '按存储原样下载',
    damaged: '归档已损坏，无法在此打开。可按存储原样下载。',
    emptyArchive: '归档中没有文件。',
    emptyFile: '文件为空。',
    binary: '此文件既不是文本，也不是浏览器能显示的图片。请下载后打开。',
    cut: '此处只解开了前 16 MiB。按存储原样下载可得到全部。',
    firstRows: '前 {{count, number}} 行。下载文件可看到全部。',
    firstText: '前 200,000 个字符。下载文件可看到全部。',
    sandbox: '此网页的脚本和请求被阻止。可下载文件单独打开。',
    pageOf: '{{step}} 的网页',
    table: '表格',
    matrix: '混淆矩阵',
    targetPredicted: '真实 ↓ 预测 →',
    rocAlt: 'ROC 曲线。数值见下方表格。',
    fpr: '假阳性率',
    tpr: '真阳性率',
    large: '内容（{{size}}）太大，无法显示。它在下方的产物 mlpipeline-ui-metadata 中。',
    tensorboard: 'Argosy 不含 TensorBoard。请自行对 {{source}} 启动它。',
    elsewhere: '内容在 {{source}}，Argosy 不读取那里。请让步骤以 storage “inline” 写出。',
    wrong: '此产出无法画出',
    asWritten: '步骤写出的原文',
    mend: '请改正步骤写入 mlpipeline-ui-metadata 的内容，然后重新运行。',
  },
};
