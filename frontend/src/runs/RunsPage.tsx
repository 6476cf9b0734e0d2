import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../app/links';
import { Page } from '../app/Page';
import { RunsTable } from './RunsTable';

const route = getRouteApi('/runs');

export function RunsPage() {
  const { t } = useTranslation();
  return (
    <Page
      title={t('pages.runs')}
      actions={
        <ButtonLink to="/runs/new" leftSection={<IconPlus size={16} aria-hidden />}>
          {t('runs.createRun')}
        </ButtonLink>
      }
    >
      <RunsTable search={route.useSearch()} />
    </Page>
  );
}
