import type { settings as en } from '../en/settings';
import type { Texts } from '../texts';

/** Chinese texts of Settings. */
export const settings: Texts<typeof en> = {
  settings: {
    look: '外观',
    components: '全部组件与颜色',
    timeZone: '时区',
    timeZoneHint: '所有时间按此时区显示。定时运行的 cron 表达式始终使用 UTC。',
    browserZone: '与浏览器相同：{{zone}}',
    server: '服务器',
    address: '地址',
    version: '版本',
    commit: '提交',
    awaitVersion: '服务器版本',
    cluster: '集群',
    awaitVersions: '集群各组件的版本',
    noVersions: '集群没有给出版本信息。',
    docs: 'API 文档',
    retention: '保留策略',
    retentionText:
      '填写要保留的内容：自运行结束起的时长、每个实验的运行数，或两者，例如 90d,1000。留空则全部保留。三项都留空时采用服务器自己的策略。',
    keepRuns: '保留运行',
    keepArtifacts: '保留产物',
    keepLogs: '保留日志',
    dryRun: '查看将删除的内容',
    refused: '服务器拒绝了该策略',
    would: '策略：{{policy}}。涉及运行：{{count}} 个，共 {{size}}。',
    goes: '删除内容',
    whole: '整个运行及其全部内容',
    parts: '{{artifacts}} 个产物，{{logs}} 个日志',
    size: '大小',
    remove: '删除这些',
    removeTitle: '删除所列内容？',
    removeText: '按策略“{{policy}}”执行，无法撤销。',
    removed: '已删除。',
  },
};
