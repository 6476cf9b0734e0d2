import { getChunks, unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { Text } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { manifestState } from './editor';
import { asYAML } from './YAMLView';
import classes from './YAMLView.module.css';

interface YAMLDiffProps {
  /** YAML, or JSON to be shown as YAML. */
  from: string;
  to: string;
}

// Lines around a change that stay in view.
const margin = 3;

/** Two manifests in one: lines that went, lines that came, and what lies around them. */
export default function YAMLDiff({ from, to }: YAMLDiffProps) {
  const { t } = useTranslation();
  const place = useRef<HTMLElement>(null);
  const [before, after] = useMemo(() => [asYAML(from), asYAML(to)], [from, to]);
  const [count, setCount] = useState<number>();
  useEffect(() => {
    if (!place.current) return;
    const merge = unifiedMergeView({
      original: before,
      mergeControls: false,
      allowInlineDiffs: false,
      syntaxHighlightDeletions: false,
      collapseUnchanged: { margin, minSize: 2 * margin },
    });
    const view = new EditorView({
      parent: place.current,
      state: manifestState(t('diff.yaml'), t, after, [merge, looks]),
    });
    setCount(getChunks(view.state)?.chunks.length);
    return () => view.destroy();
  }, [before, after, t]);
  return (
    <div className={classes.view}>
      <Text size="sm" c="dimmed" p="xs" role="status">
        {count === 0 ? t('diff.yamlSame') : count !== undefined && t('diff.places', { count })}
      </Text>
      <section ref={place} className={classes.text} aria-label={t('diff.yaml')} />
    </div>
  );
}

// Signs say what colours say, too.
const looks = EditorView.theme({
  '& .cm-changedLine, &.cm-merge-b .cm-changedLine': { background: 'var(--ar-ok-bg)' },
  '& .cm-changedLine:before': { content: '"+ "', color: 'var(--ar-ok)' },
  '& .cm-deletedChunk': { background: 'var(--ar-bad-bg)', paddingLeft: 'var(--ar-space-6)' },
  '& .cm-deletedLine:before': { content: '"− "', color: 'var(--ar-bad)' },
  '& .cm-deletedLine, & .cm-deletedLine del': { textDecoration: 'none' },
  '& .cm-changedText, & .cm-deletedText': { background: 'none !important', fontWeight: 'var(--ar-weight-strong)' },
  '& .cm-collapsedLines': {
    background: 'var(--ar-raised) !important',
    color: 'var(--ar-text)',
  },
  // The library's own sign is missing from many fonts.
  '& .cm-collapsedLines:before, & .cm-collapsedLines:after': { content: '"⋯"' },
});
