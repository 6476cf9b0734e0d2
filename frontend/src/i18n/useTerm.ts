import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

type Table = 'stepKind' | 'visualType' | 'queueState';

/** Says a word of the API in the reader's language. A word that a table lacks is said as the API says it. */
export function useTerm(table: Table): (word: string | undefined) => string {
  const { t, i18n } = useTranslation();
  return useCallback(
    (word = '') => {
      const key = `term.${table}.${word}`;
      return i18n.exists(key) ? t(key as 'term.stepKind.Pod') : word;
    },
    [t, i18n, table],
  );
}
