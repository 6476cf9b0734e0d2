import { CloseButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { experimentsQuery } from '../api/experiments';
import { pipelinesQuery } from '../api/pipelines';
import { runFieldsQuery } from '../api/runs';
import { completions, parseSearchLine, type SearchProblem, wordsOf } from '../api/search';
import { useTyped } from '../table/useTyped';
import { CompletionField } from './CompletionField';

interface SearchLineProps {
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
}

const typingPause = 350;
const shownOptions = 12;

/** Searches runs by what is written in one line, and completes the names that there are. */
export function SearchLine({ q, onSearch }: SearchLineProps) {
  const { t } = useTranslation();
  const { text: line, setText: setLine, sent } = useTyped(q ?? '');
  const [active, setActive] = useState(false);
  const fields = useQuery({ ...runFieldsQuery, enabled: active || line !== '' });
  const { typed, before } = lastWord(line);
  const known = useNames(typed);
  const problems = fields.data ? parseSearchLine(line, fields.data).problems : [];
  const search = (text: string) => {
    send.cancel();
    sent(text.trim());
    onSearch(text.trim() || undefined);
  };
  const send = useDebouncedCallback((text: string) => {
    // A word that is being typed is not wrong yet: what was found stays until it is whole.
    if (parseSearchLine(text, fields.data ?? {}).problems.length === 0) search(text);
  }, typingPause);

  const options = completions(typed, fields.data ?? {}, known).slice(0, shownOptions);
  return (
    <CompletionField
      type="search"
      aria-label={t('search.label')}
      placeholder={t('search.placeholder')}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        line && (
          <CloseButton
            size="sm"
            aria-label={t('action.clearFilter')}
            onClick={() => {
              setLine('');
              search('');
            }}
          />
        )
      }
      value={line}
      error={problems.length > 0 && problems.map((problem) => problemText(problem, t)).join(' ')}
      completions={options.map(({ word, whole, age }) => ({
        value: `${before}${word}${whole ? ' ' : ''}`,
        label: age ? t(age.less ? 'search.younger' : 'search.older', { word, age: age.of }) : word,
      }))}
      onFocus={() => setActive(true)}
      onChange={(text) => {
        setLine(text);
        send(text);
      }}
      onEnter={() => search(line)}
    />
  );
}

/** The word at the end of a line, and what stands before it. */
function lastWord(line: string) {
  const last = wordsOf(line).at(-1);
  const open = last && last.to === line.length;
  return { typed: open ? last.text : '', before: open ? line.slice(0, last.from) : line };
}

/** The names of experiments or pipelines, once the word asks for them. */
function useNames(typed: string) {
  const [, key, q = ''] = /^(experiment|pipeline):(.*)$/i.exec(typed) ?? [];
  const search = { q: q || undefined, size: 20 };
  const experiments = useQuery({ ...experimentsQuery(search), enabled: key === 'experiment' });
  const pipelines = useQuery({ ...pipelinesQuery(search), enabled: key === 'pipeline' });
  return {
    experiments: experiments.data?.items.map(({ name }) => name) ?? [],
    pipelines: pipelines.data?.items.map(({ name }) => name) ?? [],
  };
}

function problemText({ word, at, why }: SearchProblem, t: TFunction): string {
  switch (why) {
    case 'status':
      return t('search.badStatus', { word, at });
    case 'labelOrder':
      return t('search.badOrder', { word, at });
    case 'number':
      return t('search.badNumber', { word, at });
    case 'time':
      return t('search.badTime', { word, at });
    case 'unknown':
      return t('search.unknown', { word, at });
    case 'value':
      return t('search.noValue', { word, at });
  }
}
