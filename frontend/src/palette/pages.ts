import { useTranslation } from 'react-i18next';

/** A page with a key that leads to it, after g. */
export interface PageEntry {
  to:
    | '/'
    | '/pipelines'
    | '/experiments'
    | '/runs'
    | '/runs/new'
    | '/schedules'
    | '/compare'
    | '/scaling'
    | '/metrics/test'
    | '/diff'
    | '/cluster'
    | '/settings'
    | '/components';
  label: string;
  key?: string;
}

/** The pages that can be gone to from anywhere. */
export function usePages(): PageEntry[] {
  const { t } = useTranslation();
  return [
    { to: '/', label: t('pages.home'), key: 'h' },
    { to: '/pipelines', label: t('pages.pipelines'), key: 'p' },
    { to: '/experiments', label: t('pages.experiments'), key: 'e' },
    { to: '/runs', label: t('pages.runs'), key: 'r' },
    { to: '/runs/new', label: t('pages.newRun'), key: 'n' },
    { to: '/schedules', label: t('pages.schedules'), key: 's' },
    { to: '/compare', label: t('pages.compare') },
    { to: '/scaling', label: t('pages.scaling') },
    { to: '/metrics/test', label: t('pages.rules') },
    { to: '/diff', label: t('pages.diff') },
    { to: '/cluster', label: t('pages.cluster'), key: 'c' },
    { to: '/settings', label: t('pages.settings') },
    { to: '/components', label: t('pages.components') },
  ];
}
