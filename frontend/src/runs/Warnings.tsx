import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSentence } from '../waiting/useSentence';

/** What went wrong without failing the run. */
export function Warnings({ warnings }: { warnings: string[] }) {
  const { t } = useTranslation();
  const sentence = useSentence();
  const said = (warning: string) => {
    const [, step, why] = /^step (.+?) (asks .*)$/.exec(warning) ?? [];
    return step ? t('preflight.short', { step, why: sentence(why) }) : warning;
  };
  if (warnings.length === 0) return null;
  return (
    <Alert
      title={t('run.warnings')}
      icon={<IconAlertTriangle aria-hidden />}
      styles={{
        root: { background: 'var(--ar-warn-bg)' },
        title: { color: 'var(--ar-warn)' },
        icon: { color: 'var(--ar-warn)' },
      }}
    >
      <List size="sm">
        {warnings.map((warning) => (
          <List.Item key={warning} className="break">
            {said(warning)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
