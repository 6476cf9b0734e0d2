import { MultiSelect, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useStatusWord } from '../status/StatusBadge';
import { runStatuses } from '../status/status';

interface StatusFilterProps {
  chosen: string[];
  /** It opens at once. */
  pressed: boolean;
  onChange: (status: string[] | undefined) => void;
}

// Statuses whose word alone does not say enough.
const help = new Map([
  ['Waiting', 'statusHelp.Waiting'],
  ['Failed', 'statusHelp.Failed'],
  ['Error', 'statusHelp.Error'],
] as const);

/** Chooses the states of the runs that are listed. */
export default function StatusFilter({ chosen, pressed, onChange }: StatusFilterProps) {
  const { t } = useTranslation();
  const word = useStatusWord();
  return (
    <MultiSelect
      aria-label={t('runs.filterStatus')}
      placeholder={chosen.length === 0 ? t('runs.allStatuses') : undefined}
      data={runStatuses.map((status) => ({ value: status, label: word(status) }))}
      renderOption={({ option: { value, label } }) => {
        const key = help.get(value as 'Waiting');
        return (
          <Stack gap={0}>
            {label}
            {key && (
              <Text span size="xs" c="dimmed">
                {t(key)}
              </Text>
            )}
          </Stack>
        );
      }}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
      maxDropdownHeight={420}
      value={chosen}
      onChange={(status) => onChange(status.length > 0 ? status : undefined)}
      clearable
      clearButtonProps={{ 'aria-label': t('action.clearFilter') }}
      autoFocus={pressed}
      defaultDropdownOpened={pressed}
      miw={190}
    />
  );
}
