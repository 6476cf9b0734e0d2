import { Select } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { runFieldsQuery } from '../api/runs';

interface GroupByProps {
  by: string | undefined;
  /** It opens at once. */
  pressed: boolean;
  onChange: (by: string | undefined) => void;
}

/** Chooses the parameter that runs are grouped by. */
export default function GroupBy({ by, pressed, onChange }: GroupByProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(pressed);
  const fields = useQuery({ ...runFieldsQuery, enabled: opened });
  return (
    <Select
      aria-label={t('runs.groupBy')}
      placeholder={t('runs.groupBy')}
      w={225}
      leftSection={<IconStack2 size={16} aria-hidden />}
      data={[...new Set([...(by ? [by] : []), ...(fields.data?.parameters ?? [])])]}
      nothingFoundMessage={t('newRun.nothingFound')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('groups.stop') }}
      autoFocus={pressed}
      defaultDropdownOpened={pressed}
      value={by ?? null}
      onDropdownOpen={() => setOpened(true)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  );
}
