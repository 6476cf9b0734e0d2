import { Select } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { runFieldsQuery } from '../api/runs';

/** Chooses the parameter that runs are grouped by. */
export function GroupBy({ by, onChange }: { by: string | undefined; onChange: (by: string | undefined) => void }) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  const fields = useQuery({ ...runFieldsQuery, enabled: opened });
  return (
    <Select
      aria-label={t('groups.by')}
      placeholder={t('groups.by')}
      w={225}
      leftSection={<IconStack2 size={16} aria-hidden />}
      data={[...new Set([...(by ? [by] : []), ...(fields.data?.parameters ?? [])])]}
      nothingFoundMessage={t('newRun.nothingFound')}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('groups.stop') }}
      value={by ?? null}
      onDropdownOpen={() => setOpened(true)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  );
}
