import { ActionIcon, Group, Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconColumns,
  IconDownload,
  IconTextWrap,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { BarButton } from './BarButton';
import classes from './LogView.module.css';
import { SearchField } from './SearchField';
import type { useSearch } from './useSearch';

interface LogBarProps {
  step: string;
  search: ReturnType<typeof useSearch>;
  wrap: boolean;
  onWrap: (on: boolean) => void;
  /** Whether several logs are beside each other; undefined where they cannot be. */
  side: boolean | undefined;
  onSide: (on: boolean) => void;
  toError: () => void;
  toStart: () => void;
  toEnd: () => void;
  /** Where the whole log is, as a file. */
  download: string;
}

/** What can be done with a log: search, wrap, jump, download. */
export function LogBar({ step, search, wrap, onWrap, side, onSide, toError, toStart, toEnd, download }: LogBarProps) {
  const { t } = useTranslation();
  return (
    <Group gap={6} className={classes.bar}>
      <SearchField {...search} />
      <Group gap={2} ml="auto">
        {side !== undefined && (
          <BarButton label={t('log.side')} pressed={side} onClick={() => onSide(!side)}>
            <IconColumns size={16} aria-hidden />
          </BarButton>
        )}
        <BarButton label={t('log.wrap')} pressed={wrap} onClick={() => onWrap(!wrap)}>
          <IconTextWrap size={16} aria-hidden />
        </BarButton>
        <BarButton label={t('log.toError')} onClick={toError}>
          <IconAlertTriangle size={16} aria-hidden />
        </BarButton>
        <BarButton label={t('log.toStart')} onClick={toStart}>
          <IconArrowBarToUp size={16} aria-hidden />
        </BarButton>
        <BarButton label={t('log.toEnd')} onClick={toEnd}>
          <IconArrowBarToDown size={16} aria-hidden />
        </BarButton>
        <Tooltip label={t('log.download')}>
          <ActionIcon
            component="a"
            href={download}
            download={`${step}.log`}
            variant="subtle"
            color="gray"
            aria-label={t('log.download')}
          >
            <IconDownload size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </Group>
  );
}
