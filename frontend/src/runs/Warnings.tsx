import { Alert, List } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** What went wrong without failing the run. */
export function Warnings({ warnings }: { warnings: string[] }) {
  const { t } = useTranslation();
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
            {warning}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
