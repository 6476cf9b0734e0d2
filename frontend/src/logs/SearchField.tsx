import { CloseButton, Group, Text, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconSearch } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '../api/problem';
import { BarButton } from './BarButton';
import type { useSearch } from './useSearch';

/** Asks for words, says in how many lines they are, and leads from one to the next. */
export function SearchField({ text, words, count, at, error, setText, next, previous }: ReturnType<typeof useSearch>) {
  const { t } = useTranslation();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') (event.shiftKey ? previous : next)();
    if (event.key === 'Escape') setText('');
  };
  const state = error
    ? asProblem(error).message
    : count === undefined
      ? t('log.searching')
      : count === 0
        ? t('log.noMatch')
        : t('log.matchCount', { at: at < 0 ? '–' : at + 1, count });
  return (
    <Group gap={4} wrap="nowrap" maw="100%">
      <TextInput
        size="xs"
        w={210}
        miw={80}
        style={{ flexShrink: 1 }}
        value={text}
        aria-label={t('log.search')}
        placeholder={t('log.search')}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          text && <CloseButton size="xs" aria-label={t('action.clearFilter')} onClick={() => setText('')} />
        }
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {words && (
        <>
          <Text size="xs" c="dimmed" role="status" style={{ whiteSpace: 'nowrap' }}>
            {state}
          </Text>
          <BarButton label={t('log.previous')} onClick={previous}>
            <IconChevronUp size={16} aria-hidden />
          </BarButton>
          <BarButton label={t('log.next')} onClick={next}>
            <IconChevronDown size={16} aria-hidden />
          </BarButton>
        </>
      )}
    </Group>
  );
}
