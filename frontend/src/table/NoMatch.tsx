import { Button } from '@mantine/core';
import { IconFilterOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Empty } from '../feedback/Empty';

/** Stands where filters leave nothing of a list. */
export function NoMatch({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <Empty icon={<IconFilterOff aria-hidden />} title={t('list.none')} text={t('list.noneText')}>
      <Button variant="default" onClick={onClear}>
        {t('action.clearFilter')}
      </Button>
    </Empty>
  );
}
