import { Button, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { VList } from 'virtua';
import { parse, stringify } from 'yaml';
import { colourYAML } from './colour';
import classes from './YAMLView.module.css';

interface YAMLViewProps {
  /** YAML, or JSON to be shown as YAML. */
  text: string;
  /** Name of the file when it is downloaded. */
  file: string;
}

// Up to here all lines are in the page, where the browser's own search finds them.
const virtualFrom = 3000;

/** A manifest with line numbers and colours. */
export default function YAMLView({ text, file }: YAMLViewProps) {
  const { t } = useTranslation();
  const yaml = useMemo(() => asYAML(text), [text]);
  const lines = useMemo(() => yaml.replace(/\n$/, '').split('\n'), [yaml]);
  const width = `${String(lines.length).length + 2}ch`;
  const line = (content: string, index: number) => (
    <div key={index} className={classes.line}>
      <span className={classes.number} style={{ width }} aria-hidden>
        {index + 1}
      </span>
      <span>
        {colourYAML(content).map(({ text: piece, kind }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
          <span key={i} className={kind && classes[kind]}>
            {piece}
          </span>
        ))}
      </span>
    </div>
  );
  return (
    <div className={classes.view}>
      <Group gap="xs" p="xs" justify="flex-end">
        <CopyButton value={yaml}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
              onClick={copy}
            >
              {copied ? t('action.copied') : t('action.copy')}
            </Button>
          )}
        </CopyButton>
        <Button
          component="a"
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          href={`data:application/yaml;charset=utf-8,${encodeURIComponent(yaml)}`}
          download={file}
        >
          {t('action.download')}
        </Button>
      </Group>
      <section className={classes.text} aria-label={file} tabIndex={0}>
        {lines.length < virtualFrom ? (
          lines.map(line)
        ) : (
          <VList data={lines} style={{ position: 'absolute', inset: 0, height: '100%' }}>
            {line}
          </VList>
        )}
      </section>
    </div>
  );
}

/** JSON as YAML; anything else as it is, comments and all. */
export function asYAML(text: string): string {
  if (!text.trimStart().startsWith('{')) return text;
  try {
    return stringify(parse(text), { lineWidth: 0 });
  } catch {
    // Not JSON after all: shown as it came.
    return text;
  }
}
