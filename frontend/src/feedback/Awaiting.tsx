import { Skeleton, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNow } from '../format/useNow';

// Answers usually come before anyone can read a text; only slower ones are explained.
const explainAfter = 300;
const slowAfter = 4;

interface AwaitingProps {
  /** What is awaited, as a phrase. */
  what: string;
  rows?: number;
}

/** Stands where something is about to appear, and says what is awaited and for how long. */
export function Awaiting({ what, rows = 4 }: AwaitingProps) {
  const { t } = useTranslation();
  const [begun] = useState(Date.now);
  const [explain, setExplain] = useState(false);
  const seconds = Math.floor((useNow(true) - begun) / 1000);

  useEffect(() => {
    const timer = setTimeout(() => setExplain(true), explainAfter);
    return () => clearTimeout(timer);
  }, []);

  return (
    <Stack gap="sm" p="md" role="status">
      <Text size="sm" c="dimmed" style={{ visibility: explain ? 'visible' : 'hidden' }}>
        {seconds < slowAfter ? t('await.why', { what }) : t('await.slow', { what, seconds })}
      </Text>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <Skeleton key={row} height={18} width={`${96 - ((row * 17) % 40)}%`} />
      ))}
    </Stack>
  );
}
