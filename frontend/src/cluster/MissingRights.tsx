import { Alert, List, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { MissingRight } from '../api/cluster';

/** Names what the server may not read in the cluster, and what to do about it. */
export function MissingRights({ missing = [] }: { missing: MissingRight[] | undefined }) {
  const { t } = useTranslation();
  if (missing.length === 0) return null;
  return (
    <Alert
      title={t('cluster.missing')}
      icon={<IconLock aria-hidden />}
      styles={{
        root: { background: 'var(--ar-warn-bg)' },
        title: { color: 'var(--ar-warn)' },
        icon: { color: 'var(--ar-warn)' },
      }}
    >
      <List size="sm">
        {missing.map(({ verb, resource, namespace }) => (
          <List.Item key={`${verb} ${resource} ${namespace}`} className="break">
            <code>{`${verb} ${resource}`}</code>{' '}
            {namespace ? t('cluster.inNamespace', { namespace }) : t('cluster.everywhere')}
          </List.Item>
        ))}
      </List>
      <Text size="sm" mt={4}>
        {t('cluster.missingText')}
      </Text>
    </Alert>
  );
}
