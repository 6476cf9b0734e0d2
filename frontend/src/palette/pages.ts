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
    | '/settings';
  label: string;
  key?: string;
}

/** The pages that can be gone to from anywhere. */
export function usePages(): PageEntry[] {
  const { t } = useTranslation();
  return [
    { to: '/', label: t('home.title'), key: 'h' },
    { to: '/pipelines', label: t('pipelines.title'), key: 'p' },
    { to: '/experiments', label: t('experiments.title'), key: 'e' },
    { to: '/runs', label: t('runs.title'), key: 'r' },
    { to: '/runs/new', label: t('newRun.title'), key: 'n' },
    { to: '/schedules', label: t('schedules.title'), key: 's' },
    { to: '/compare', label: t('compare.title') },
    { to: '/scaling', label: t('scaling.title') },
    { to: '/metrics/test', label: t('rules.title') },
    { to: '/diff', label: t('diff.title') },
    { to: '/cluster', label: t('cluster.title'), key: 'c' },
    { to: '/settings', label: t('settings.title') },
  ];
}
