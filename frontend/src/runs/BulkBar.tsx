import { Button, Group, Text } from '@mantine/core';
import {
  IconArchive,
  IconArchiveOff,
  IconArrowsDiff,
  IconChartLine,
  IconPlayerStop,
  IconRotateClockwise,
  IconTags,
  IconTrash,
} from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { BulkAction } from '../api/bulk';
import type { Run } from '../api/client';
import { ButtonLink } from '../app/links';
import classes from './BulkBar.module.css';

const BulkDialog = lazy(() => import('./BulkDialog'));
const LabelsDialog = lazy(() => import('./LabelsDialog'));

interface BulkBarProps {
  chosen: Run[];
  archived: boolean;
  onClear: () => void;
}

const icons = {
  terminate: IconPlayerStop,
  retry: IconRotateClockwise,
  archive: IconArchive,
  unarchive: IconArchiveOff,
  delete: IconTrash,
};

/** The fewest and the most runs that the server compares. */
const comparable = { min: 2, max: 50 };

/** What can be done with the runs that are chosen; it stays in sight while there are some. */
export default function BulkBar({ chosen, archived, onClear }: BulkBarProps) {
  const { t } = useTranslation();
  const [asking, setAsking] = useState<BulkAction>();
  const [labelling, setLabelling] = useState(false);
  const actions: BulkAction[] = archived ? ['unarchive', 'delete'] : ['terminate', 'retry', 'archive', 'delete'];
  const canCompare = chosen.length >= comparable.min && chosen.length <= comparable.max;
  return (
    <section className={classes.bar} aria-label={t('bulk.label')}>
      <Text size="sm" fw={550} role="status">
        {t('bulk.chosen', { count: chosen.length })}
      </Text>
      <Group gap={6}>
        {canCompare ? (
          <ButtonLink
            to="/compare"
            search={{ runs: chosen.map(({ id }) => id) }}
            size="compact-sm"
            leftSection={<IconArrowsDiff size={16} aria-hidden />}
          >
            {t('bulk.compare')}
          </ButtonLink>
        ) : (
          <Text size="sm" c="dimmed">
            {t('bulk.compareHint', comparable)}
          </Text>
        )}
        {chosen.length >= comparable.min && (
          <ButtonLink
            to="/scaling"
            search={{ runs: chosen.map(({ id }) => id) }}
            size="compact-sm"
            variant="default"
            leftSection={<IconChartLine size={16} aria-hidden />}
          >
            {t('bulk.scaling')}
          </ButtonLink>
        )}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconTags size={16} aria-hidden />}
          onClick={() => setLabelling(true)}
        >
          {t('field.labels')}
        </Button>
        {actions.map((action) => {
          const Icon = icons[action];
          return (
            <Button
              key={action}
              size="compact-sm"
              variant="default"
              c={action === 'delete' ? 'var(--ar-bad)' : undefined}
              leftSection={<Icon size={16} aria-hidden />}
              onClick={() => setAsking(action)}
            >
              {t(`bulk.${action}`)}
            </Button>
          );
        })}
        <Button size="compact-sm" variant="subtle" onClick={onClear}>
          {t('bulk.none')}
        </Button>
      </Group>
      <Suspense>
        {labelling && <LabelsDialog runs={chosen} onClose={() => setLabelling(false)} />}
        {asking && (
          <BulkDialog
            action={asking}
            runs={chosen}
            onClose={(done) => {
              setAsking(undefined);
              if (done) onClear();
            }}
          />
        )}
      </Suspense>
    </section>
  );
}
