import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { quoted } from '../api/search';
import { TextLink } from '../app/links';

/** The labels of a run; each leads to the runs that have it too. */
export function Labels({ labels }: { labels: Record<string, string> | undefined }) {
  const { t } = useTranslation();
  const names = Object.keys(labels ?? {}).sort();
  if (names.length === 0)
    return (
      <Text span c="dimmed">
        {t('field.none')}
      </Text>
    );
  return (
    <Group gap="4px 10px" maw={420}>
      {names.map((name) => {
        const label = `${name}=${labels?.[name] ?? ''}`;
        return (
          <TextLink key={name} to="/runs" search={{ q: `label:${quoted(label)}` }} size="sm" className="name">
            {label}
          </TextLink>
        );
      })}
    </Group>
  );
}
