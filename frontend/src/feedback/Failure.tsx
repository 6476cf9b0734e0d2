import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '../api/problem';

interface FailureProps {
  title: string;
  error: unknown;
  onRetry?: () => void;
  children?: ReactNode;
}

/** An error in full, in the server's own words, with a way to try again. */
export function Failure({ title, error, onRetry, children }: FailureProps) {
  const { t } = useTranslation();
  const problem = asProblem(error);
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      title={title}
      icon={<IconAlertTriangle aria-hidden />}
      styles={{
        root: { background: 'var(--ar-bad-bg)', borderColor: 'var(--ar-bad)' },
        title: { color: 'var(--ar-bad)' },
        icon: { color: 'var(--ar-bad)' },
      }}
    >
      <Stack gap="xs" align="flex-start">
        {problem.status === 0 && <Text size="sm">{t('failure.unreachable')}</Text>}
        <Text size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {problem.message}
        </Text>
        {problem.details && (
          <details>
            <summary>{t('failure.details')}</summary>
            <Code block className="break" style={{ whiteSpace: 'pre-wrap' }}>
              {problem.details}
            </Code>
          </details>
        )}
        {(onRetry || children) && (
          <Group gap="xs">
            {onRetry && (
              <Button size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} onClick={onRetry}>
                {t('action.retry')}
              </Button>
            )}
            {children}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
