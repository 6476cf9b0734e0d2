import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './LogView.module.css';

interface LogFootProps {
  /** Lines of the log so far. */
  count: number;
  ended: boolean;
  following: boolean;
  onFollow: () => void;
}

/** Says how long a log is, and whether it is followed. */
export function LogFoot({ count, ended, following, onFollow }: LogFootProps) {
  const { t } = useTranslation();
  const state = t(ended ? 'log.ended' : following ? 'log.following' : 'log.paused');
  return (
    <Group className={classes.foot} gap="sm" justify="space-between">
      <Text size="xs" c="dimmed">
        {t('log.lines', { count })}
        {' · '}
        {state}
      </Text>
      {!following && !ended && (
        <Button size="compact-xs" variant="light" onClick={onFollow}>
          {t('log.follow')}
        </Button>
      )}
    </Group>
  );
}
