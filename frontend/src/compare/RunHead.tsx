import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { TextLink } from '../app/links';
import { LineKey } from '../metrics/LineKey';

interface RunHeadProps {
  run: Run;
  number: number;
  base: boolean;
  onBase: () => void;
}

/** A compared run: its look in the pictures, its name, and whether it is the baseline. */
export function RunHead({ run, number, base, onBase }: RunHeadProps) {
  const { t } = useTranslation();
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <LineKey index={number - 1} />
        <Text span size="xs" c="dimmed">
          {number}
        </Text>
      </Group>
      <TextLink to="/runs/$runId" params={{ runId: run.id }} className="name" display="inline-block" mih={24}>
        {run.name}
      </TextLink>
      <div>
        {base ? (
          <Text span size="xs" fw={620}>
            {t('compare.baseline')}
          </Text>
        ) : (
          <Button
            variant="transparent"
            size="compact-xs"
            mih={26}
            px={0}
            aria-label={`${t('compare.makeBaseline')}: ${run.name}`}
            onClick={onBase}
          >
            {t('compare.makeBaseline')}
          </Button>
        )}
      </div>
    </>
  );
}
