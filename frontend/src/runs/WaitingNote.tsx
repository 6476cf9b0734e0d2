import { Button, Text } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { stepLabels } from '../graph/model';
import { useSentence } from '../waiting/useSentence';
import { waitingNode } from './focusNode';
import classes from './RunPage.module.css';

/** Says what the run waits for, when that is one thing and nothing of the run goes on meanwhile. */
export function WaitingNote({ run, onShowWhy }: { run: Run; onShowWhy: (nodeID: string) => void }) {
  const { t } = useTranslation();
  const sentence = useSentence();
  const node = waitingNode(run);
  if (!node) return null;
  return (
    <section className={classes.waiting} aria-label={t('status.Pending')} role="status">
      <IconClock size={20} aria-hidden />
      <Text size="sm" className="break">
        {t('runs.waits', {
          step: stepLabels((run.nodes ?? []) as RunNode[]).get(node.id),
          why: sentence(node.waiting),
        })}
      </Text>
      <Button size="xs" variant="default" onClick={() => onShowWhy(node.id)}>
        {t('pending.title')}
      </Button>
    </section>
  );
}
