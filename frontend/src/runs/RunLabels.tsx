import { ActionIcon, Group } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { Labels } from './Labels';

const LabelsDialog = lazy(() => import('./LabelsDialog'));

/** The labels of a run, and the way to change them. */
export function RunLabels({ run }: { run: Run }) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState(false);
  return (
    <Group gap={6}>
      <Labels labels={run.labels} />
      <ActionIcon size="sm" variant="subtle" aria-label={t('labels.edit')} onClick={() => setEditing(true)}>
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <Suspense>{editing && <LabelsDialog runs={[run]} onClose={() => setEditing(false)} />}</Suspense>
    </Group>
  );
}
