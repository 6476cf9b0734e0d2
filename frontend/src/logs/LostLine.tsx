import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Place } from '../api/logs';

/** Says that a line of several logs is not held here, and leads to it. */
export function LostLine({ place, name, onAlone }: { place: Place; name: string; onAlone: () => void }) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" px="sm" py={4}>
      <Text size="xs" c="dimmed" role="status">
        {t('log.lost', { line: place.line, name })}
      </Text>
      <Button size="compact-xs" variant="light" onClick={onAlone}>
        {t('log.alone')}
      </Button>
    </Group>
  );
}
