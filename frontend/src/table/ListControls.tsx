import { ActionIcon, CloseButton, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight, IconChevronsLeft, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { defaultPageSize, type ListSearch, pageSizes } from '../api/list';
import { formatNumber } from '../format/format';
import type { PageTurn } from './useListURL';
import { useTyped } from './useTyped';

interface FilterBarProps {
  q: string | undefined;
  onFilter: (q: string | undefined) => void;
  children?: ReactNode;
}

// Typing should not ask the server at each key.
const typingPause = 250;

/** The row above a list: the filter by name, and what else the list offers. */
export function FilterBar({ q, onFilter, children }: FilterBarProps) {
  const { t } = useTranslation();
  const { text, setText, sent } = useTyped(q ?? '');
  const filter = (words: string) => {
    sent(words);
    onFilter(words || undefined);
  };
  const send = useDebouncedCallback(filter, typingPause);

  return (
    <Group gap="sm">
      <TextInput
        type="search"
        w={280}
        value={text}
        placeholder={t('list.filter')}
        aria-label={t('list.filter')}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          text && (
            <CloseButton
              size="sm"
              aria-label={t('action.clearFilter')}
              onClick={() => {
                send.cancel();
                setText('');
                filter('');
              }}
            />
          )
        }
        onChange={(event) => {
          setText(event.currentTarget.value);
          send(event.currentTarget.value);
        }}
      />
      {children}
    </Group>
  );
}

interface PagerProps {
  search: ListSearch;
  shown: number;
  total: number;
  next: string;
  turn: PageTurn;
}

/** The row below a list: which part of it is shown, and the way to the others. */
export function Pager({ search, shown, total, next, turn }: PagerProps) {
  const { t, i18n } = useTranslation();
  const size = search.size ?? defaultPageSize;
  const from = ((search.page ?? 1) - 1) * size + 1;
  const number = (value: number) => formatNumber(value, i18n.language);
  return (
    <Group justify="flex-end" gap="md" role="navigation" aria-label={t('list.paging')}>
      <NativeSelect
        size="xs"
        label={t('list.rows')}
        styles={{ root: { display: 'flex', alignItems: 'center', gap: 8 } }}
        value={size}
        data={pageSizes.map(String)}
        onChange={(event) => turn.resize(Number(event.currentTarget.value))}
      />
      <Text size="sm" c="dimmed">
        {t('list.range', { from: number(from), to: number(from + shown - 1), total: number(total) })}
      </Text>
      <Group gap={4}>
        <ActionIcon variant="default" aria-label={t('list.first')} disabled={!search.token} onClick={turn.first}>
          <IconChevronsLeft size={16} aria-hidden />
        </ActionIcon>
        <ActionIcon variant="default" aria-label={t('list.previous')} disabled={!turn.previous} onClick={turn.previous}>
          <IconChevronLeft size={16} aria-hidden />
        </ActionIcon>
        <ActionIcon variant="default" aria-label={t('list.next')} disabled={!next} onClick={() => turn.next(next)}>
          <IconChevronRight size={16} aria-hidden />
        </ActionIcon>
      </Group>
    </Group>
  );
}
