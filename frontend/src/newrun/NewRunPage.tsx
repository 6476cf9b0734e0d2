import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { runQuery } from '../api/runs';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { NewRunForm } from './NewRunForm';

const route = getRouteApi('/runs/new');

export function NewRunPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const cloned = useQuery({ ...runQuery(search.clone ?? ''), enabled: Boolean(search.clone) });
  const what = t('await.run');
  return (
    <Page title={t('newRun.title')} trail={<TextLink to="/runs">{t('runs.title')}</TextLink>}>
      {cloned.error && (
        <Failure title={t('failure.title', { what })} error={cloned.error} onRetry={() => void cloned.refetch()} />
      )}
      {cloned.isLoading ? (
        <Awaiting what={what} />
      ) : (
        !cloned.error && <NewRunForm search={search} cloned={search.clone ? cloned.data : undefined} />
      )}
    </Page>
  );
}
