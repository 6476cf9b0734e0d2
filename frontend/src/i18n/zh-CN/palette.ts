import type { palette as en } from '../en/palette';
import type { Texts } from '../texts';

/** Chinese texts of the palette and the keys. */
export const palette: Texts<typeof en> = {
  palette: {
    title: '前往页面、运行或流水线，或执行操作',
    placeholder: '页面、运行、流水线或操作',
    theme: '切换主题：{{theme}}',
    language: '切换语言 Language：{{language}}',
    page: '页面',
    nothing: '没有名称包含此文字的内容。',
    choose: '选择',
    open: '打开',
    toSearch: '搜索列表',
    help: '快捷键',
  },
};
