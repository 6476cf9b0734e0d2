import { Alert, Code, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Visual } from '../api/outputs';
import { formatBytes } from '../format/format';
import { ConfusionMatrix } from './ConfusionMatrix';
import { CsvTable } from './CsvTable';
import { Markdown } from './Markdown';
import classes from './Outputs.module.css';
import { RocCurve } from './RocCurve';
import { SandboxedPage } from './SandboxedPage';

/** One output that a step meant for people to look at, or what is wrong with it. */
export function VisualView({ visual }: { visual: Visual }) {
  const { t, i18n } = useTranslation();
  const { type = '', source = '' } = visual;
  const note = (text: string) => (
    <Text size="sm" c="dimmed" className="break">
      {text}
    </Text>
  );
  if (visual.problem) return <Problem visual={visual} />;
  const left = Number(visual.source_size ?? 0);
  if (left > 0) return note(t('outputs.large', { size: formatBytes(left, i18n.language) }));
  if (type === 'tensorboard') return note(t('outputs.tensorboard', { source }));
  if (visual.storage !== 'inline') return note(t('outputs.elsewhere', { source }));
  const columns = (visual.schema ?? []).map((column) => column.name ?? '');
  switch (type) {
    case 'markdown':
      return <Markdown text={source} />;
    case 'table':
      return <CsvTable text={source} header={visual.header} label={t('outputs.table')} />;
    case 'roc':
      return <RocCurve text={source} columns={columns} />;
    case 'confusion_matrix':
      return <ConfusionMatrix text={source} labels={visual.labels ?? []} />;
    case 'web-app':
      return (
        <>
          <SandboxedPage html={source} title={t('outputs.pageOf', { step: visual.step_name })} />
          {note(t('outputs.sandbox'))}
        </>
      );
    default:
      return <Code block>{source}</Code>;
  }
}

/** What is wrong in the step's file, and what stands there. */
function Problem({ visual }: { visual: Visual }) {
  const { t } = useTranslation();
  return (
    <Alert
      icon={<IconAlertTriangle aria-hidden />}
      title={t('outputs.wrong')}
      styles={{
        root: { background: 'var(--ar-warn-bg)' },
        title: { color: 'var(--ar-warn)' },
        icon: { color: 'var(--ar-warn)' },
      }}
    >
      <Text size="sm" className="break">
        {visual.problem}
      </Text>
      {visual.raw && (
        <details className={classes.details}>
          <summary>{t('outputs.asWritten')}</summary>
          <Code block tabIndex={0} className={classes.raw}>
            {visual.raw}
          </Code>
        </details>
      )}
      <Text size="sm" mt={6}>
        {t('outputs.mend')}
      </Text>
    </Alert>
  );
}
