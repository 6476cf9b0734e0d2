import { Anchor, type CSSVariablesResolver, createTheme, type MantineColorsTuple, Modal } from '@mantine/core';

const tide: MantineColorsTuple = [
  '#e7f6f8',
  '#d3ebef',
  '#a8d6de',
  '#79c0cd',
  '#53aebe',
  '#3aa2b5',
  '#2b93a6',
  '#177789',
  '#0c6272',
  '#00505e',
];

// Mantine's dark greys have no hue; ours lean to the sea, like everything else.
const dark: MantineColorsTuple = [
  '#dfe6ec',
  '#c3ced7',
  '#98a6b3',
  '#6b7a87',
  '#33414e',
  '#222e3a',
  '#1b252f',
  '#151d25',
  '#10161d',
  '#0b1015',
];

// Chinese, Japanese and Korean faces stand after the Latin one, so that mixed text keeps both right.
const cjk = '"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Micro Hei"';

export const theme = createTheme({
  primaryColor: 'tide',
  primaryShade: { light: 8, dark: 7 },
  colors: { tide, dark },
  fontFamily: `"Inter Variable", system-ui, -apple-system, "Segoe UI", ${cjk}, sans-serif`,
  fontFamilyMonospace: `ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", ${cjk}, monospace`,
  headings: { fontWeight: '620' },
  defaultRadius: 'md',
  respectReducedMotion: true,
  cursorType: 'pointer',
  focusRing: 'auto',
  components: {
    Anchor: Anchor.extend({ defaultProps: { inherit: true } }),
    Modal: Modal.extend({ styles: { title: { fontSize: 'var(--mantine-font-size-lg)', fontWeight: 620 } } }),
  },
});

/** Colours of our own that depend on the scheme; Mantine's dimmed text is too pale for WCAG AA on our canvas. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#566472',
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#14212b',
    '--mantine-color-placeholder': '#6a7783',
    '--mantine-color-error': '#b3261e',
    '--mantine-color-anchor': '#0c6272',
    '--ar-canvas': '#f4f6f8',
    '--ar-surface': '#ffffff',
    '--ar-raised': '#f0f3f6',
    '--ar-line': '#dde3e9',
    '--ar-line-strong': '#b7c2cc',
    '--ar-log': '#fbfcfd',
    '--ar-mark': '#ffe9a8',
    '--ar-mark-text': '#3b2a00',
    '--ar-curve': '#0c7c92',
    '--ar-violet': '#8a2a86',
    '--ar-ok': '#12703a',
    '--ar-ok-bg': '#e2f5e9',
    '--ar-run': '#0b5fa8',
    '--ar-run-bg': '#e1effb',
    '--ar-bad': '#b3261e',
    '--ar-bad-bg': '#fdeae8',
    '--ar-warn': '#8a5300',
    '--ar-warn-bg': '#fdf1dc',
    '--ar-idle': '#55616d',
    '--ar-idle-bg': '#e9edf1',
  },
  dark: {
    '--mantine-color-dimmed': '#98a6b3',
    '--mantine-color-body': '#151d25',
    '--mantine-color-text': '#dfe6ec',
    '--mantine-color-placeholder': '#8693a0',
    '--mantine-color-error': '#ff8f86',
    '--mantine-color-anchor': '#79c0cd',
    '--ar-canvas': '#0e151b',
    '--ar-surface': '#151d25',
    '--ar-raised': '#1c2732',
    '--ar-line': '#27333e',
    '--ar-line-strong': '#43525f',
    '--ar-log': '#0f161d',
    '--ar-mark': '#6b5310',
    '--ar-mark-text': '#fff3cf',
    '--ar-curve': '#5cc4d6',
    '--ar-violet': '#e7a3e4',
    '--ar-ok': '#7bdb9f',
    '--ar-ok-bg': '#12321f',
    '--ar-run': '#8cc6ff',
    '--ar-run-bg': '#10304c',
    '--ar-bad': '#ff9d95',
    '--ar-bad-bg': '#44191a',
    '--ar-warn': '#f5c26b',
    '--ar-warn-bg': '#3b2b0d',
    '--ar-idle': '#aab7c2',
    '--ar-idle-bg': '#26323d',
  },
});
