import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { chooseTimeZone, timeZone } from '../format/zone';

// Stands for the browser's zone in the list.
const browser = 'browser';

// Longer lists are slow to open; the rest is found by typing.
const most = 100;

/** In which time zone the interface writes times, remembered by the browser. */
export function TimeZoneChoice() {
  const { t } = useTranslation();
  const [zone, setZone] = useState(timeZone());
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const named = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC');
  const data = [
    { value: browser, label: t('settings.browserZone', { zone: own }) },
    { value: 'UTC', label: 'UTC' },
    ...named.map((name) => ({ value: name, label: name })),
  ];
  const choose = (value: string | null) => {
    const next = value === browser || value === null ? undefined : value;
    chooseTimeZone(next);
    setZone(next);
  };
  return (
    <>
      <Select
        aria-label={t('settings.timeZone')}
        searchable
        allowDeselect={false}
        limit={most}
        nothingFoundMessage={t('list.noneText')}
        value={zone ?? browser}
        data={data}
        onChange={choose}
      />
      <Text size="xs" c="dimmed">
        {t('settings.timeZoneHint')}
      </Text>
    </>
  );
}
