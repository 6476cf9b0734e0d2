import { useTranslation } from 'react-i18next';
import { SearchField } from '../table/SearchField';

interface StepSearchProps {
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
}

/** Finds steps of a graph by name. */
export function StepSearch(props: StepSearchProps) {
  const { t } = useTranslation();
  return <SearchField size="xs" w={200} aria-label={t('run.findStep')} placeholder={t('run.findStep')} {...props} />;
}
