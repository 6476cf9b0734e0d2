import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { partLines } from '../api/logs';

interface PartBarProps {
  from: number;
  to: number;
  /** The last line that is not held here. */
  last: number;
  onMove: (middle: number) => void;
  onBack: () => void;
}

/** Says which part of the log is shown in place of its end, and leads to others. */
export function PartBar({ from, to, last, onMove, onBack }: PartBarProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" px="sm" py={4}>
      <Text size="xs" c="dimmed" role="status">
        {to >= from ? t('log.part', { from, to }) : t('await.why', { what: t('await.log') })}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        disabled={from <= 1}
        onClick={() => onMove(Math.max(1, from - partLines / 2))}
      >
        {t('log.earlier')}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => (to >= last ? onBack() : onMove(Math.min(last, to + partLines / 2)))}
      >
        {t('log.later')}
      </Button>
      <Button size="compact-xs" variant="light" onClick={onBack}>
        {t('log.back')}
      </Button>
    </Group>
  );
}
