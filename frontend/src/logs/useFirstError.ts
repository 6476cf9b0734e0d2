import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { firstErrorQuery, type LogSource, type Place } from '../api/logs';
import { asProblem } from '../api/problem';
import { announce } from '../app/announce';

/** Has the server find the first line that tells of an error, also one that is not held here, and points to it. */
export function useFirstError(source: LogSource, nameOf: (log: string) => string, onFound: (place: Place) => void) {
  const { t } = useTranslation();
  const client = useQueryClient();
  return async () => {
    try {
      const place = await client.fetchQuery(firstErrorQuery(source));
      if (!place) return announce(t('log.noError'));
      onFound(place);
      announce(t(place.log ? 'log.atErrorOf' : 'log.atError', { number: place.line, name: nameOf(place.log ?? '') }));
    } catch (error) {
      announce(asProblem(error).message);
    }
  };
}
