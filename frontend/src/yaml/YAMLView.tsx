import { foldAll, unfoldAll } from '@codemirror/language';
import { openSearchPanel } from '@codemirror/search';
import { EditorView } from '@codemirror/view';
import { Button, CopyButton, Group } from '@mantine/core';
import {
  IconCheck,
  IconCopy,
  IconDownload,
  IconFold,
  IconSearch,
  IconArrowsVertical as IconUnfold,
} from '@tabler/icons-react';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { parse, stringify } from 'yaml';
import { difference, manifestState } from './editor';
import classes from './YAMLView.module.css';

interface YAMLViewProps {
  /** YAML, or JSON to be shown as YAML. */
  text: string;
  /** Name of the file when it is downloaded. */
  file: string;
}

/** A manifest with line numbers and colours, to search and to fold. */
export default function YAMLView({ text, file }: YAMLViewProps) {
  const { t } = useTranslation();
  const yaml = useMemo(() => asYAML(text), [text]);
  const place = useRef<HTMLElement>(null);
  const view = useRef<EditorView>(null);
  useEffect(() => {
    if (!place.current) return;
    const made = new EditorView({ parent: place.current, state: manifestState(file, t) });
    view.current = made;
    return () => made.destroy();
  }, [file, t]);
  // The Workflow of a live run changes every few seconds: what the reader has folded, found and scrolled to stays.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a view that was made anew is empty
  useEffect(() => {
    view.current?.dispatch({ changes: difference(view.current.state.doc.toString(), yaml) });
  }, [yaml, file, t]);
  const act = (command: (view: EditorView) => boolean) => () => {
    if (view.current) command(view.current);
  };
  return (
    <div className={classes.view}>
      <Group gap="xs" p="xs" justify="flex-end">
        <Tool icon={IconSearch} label={t('yaml.find')} onClick={act(openSearchPanel)} />
        <Tool icon={IconFold} label={t('yaml.foldAll')} onClick={act(foldAll)} />
        <Tool icon={IconUnfold} label={t('yaml.unfoldAll')} onClick={act(unfoldAll)} />
        <CopyButton value={yaml}>
          {({ copied, copy }) => (
            <Tool
              icon={copied ? IconCheck : IconCopy}
              label={copied ? t('action.copied') : t('action.copy')}
              onClick={copy}
            />
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
      <section ref={place} className={classes.text} aria-label={file} />
    </div>
  );
}

function Tool({ icon: Icon, label, onClick }: { icon: typeof IconCopy; label: string; onClick: () => void }) {
  return (
    <Button size="compact-sm" variant="default" leftSection={<Icon size={14} aria-hidden />} onClick={onClick}>
      {label}
    </Button>
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
