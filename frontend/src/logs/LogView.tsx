import './ansi.css';
import { ActionIcon, Button, CloseButton, Group, Text, TextInput, Tooltip } from '@mantine/core';
import {
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconChevronDown,
  IconChevronUp,
  IconDownload,
  IconSearch,
} from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { VList, type VListHandle } from 'virtua';
import { Failure } from '../feedback/Failure';
import { LogLine } from './LogLine';
import classes from './LogView.module.css';
import { matches } from './search';
import { useFollow } from './useFollow';
import { useLineLink } from './useLineLink';
import { useLog } from './useLog';

interface LogViewProps {
  /** Name of the step, for labels. */
  step: string;
  /** Where the log is followed. */
  url: string;
  /** Where the whole log is, as a file. */
  download: string;
}

/** A log that follows its step: it scrolls along until the reader scrolls up, and can be searched and linked by line. */
export default function LogView({ step, url, download }: LogViewProps) {
  const { t } = useTranslation();
  const { lines, dropped, phase, problem, restart } = useLog(url);
  const list = useRef<VListHandle>(null);
  const { linked, link } = useLineLink();
  const { following, follow, pause, onScroll } = useFollow(list, lines.length, linked === undefined);
  const search = useSearch(lines, (index) => {
    pause();
    list.current?.scrollToIndex(index, { align: 'center' });
  });

  const toStart = () => {
    pause();
    list.current?.scrollToIndex(0);
  };

  // A link to a line waits until that line has arrived.
  const target = linked === undefined ? -1 : linked - 1 - dropped;
  const arrived = target >= 0 && target < lines.length;
  useEffect(() => {
    if (arrived) list.current?.scrollToIndex(target, { align: 'center' });
  }, [arrived, target]);

  const state = phase === 'ended' ? t('log.ended') : following ? t('log.following') : t('log.paused');
  return (
    <div className={classes.view}>
      <Group gap={6} className={classes.bar}>
        <SearchField {...search} />
        <Group gap={2} ml="auto">
          <BarButton label={t('log.toStart')} onClick={toStart}>
            <IconArrowBarToUp size={16} aria-hidden />
          </BarButton>
          <BarButton label={t('log.toEnd')} onClick={follow}>
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
      {problem && <Failure title={t('log.failed')} error={problem} onRetry={restart} />}
      {dropped > 0 && (
        <Text size="xs" c="dimmed" px="sm" py={4}>
          {t('log.dropped', { count: dropped })}
        </Text>
      )}
      {lines.length === 0 && !problem ? (
        <Text size="sm" c="dimmed" p="md" role="status" className={classes.none}>
          {t(phase === 'waiting' ? 'await.why' : phase === 'open' ? 'log.empty' : 'log.emptyEnded', {
            what: t('await.log'),
          })}
        </Text>
      ) : (
        <div className={classes.text}>
          <VList
            ref={list}
            data={lines}
            itemSize={20}
            onScroll={onScroll}
            className={classes.scroller}
            role="region"
            aria-label={t('log.label', { step })}
            tabIndex={0}
          >
            {(line, index) => (
              <LogLine
                key={dropped + index}
                text={line}
                number={dropped + index + 1}
                words={search.words}
                current={search.current === index}
                linked={target === index}
                onLink={link}
              />
            )}
          </VList>
        </div>
      )}
      <Group className={classes.foot} gap="sm" justify="space-between">
        <Text size="xs" c="dimmed">
          {t('log.lines', { count: dropped + lines.length })}
          {' · '}
          {state}
        </Text>
        {!following && phase !== 'ended' && (
          <Button size="compact-xs" variant="light" onClick={follow}>
            {t('log.follow')}
          </Button>
        )}
      </Group>
    </div>
  );
}

function BarButton({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** The words searched for, where they are, and which of the places is the current one. */
function useSearch(lines: string[], show: (index: number) => void) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(-1);
  // Long logs take a moment to search; typing must not wait for it.
  const words = useDeferredValue(text.trim());
  const found = useMemo(() => matches(lines, words), [lines, words]);

  const go = (to: number) => {
    // Enter may come before the deferred search does.
    const places = words === text.trim() ? found : matches(lines, text.trim());
    if (places.length === 0) return;
    const next = (to + places.length) % places.length;
    setAt(next);
    show(places[next] as number);
  };
  return {
    text,
    words,
    count: found.length,
    at: Math.min(at, found.length - 1),
    current: found[at],
    setText: (value: string) => {
      setText(value);
      setAt(-1);
    },
    next: () => go(at + 1),
    previous: () => go(at < 0 ? -1 : at - 1),
  };
}

function SearchField({ text, words, count, at, setText, next, previous }: ReturnType<typeof useSearch>) {
  const { t } = useTranslation();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') (event.shiftKey ? previous : next)();
    if (event.key === 'Escape') setText('');
  };
  return (
    <Group gap={4} wrap="nowrap">
      <TextInput
        size="xs"
        w={210}
        value={text}
        aria-label={t('log.search')}
        placeholder={t('log.search')}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          text && <CloseButton size="xs" aria-label={t('action.clearFilter')} onClick={() => setText('')} />
        }
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {words && (
        <>
          <Text size="xs" c="dimmed" role="status" style={{ whiteSpace: 'nowrap' }}>
            {count === 0 ? t('log.noMatch') : t('log.matchCount', { at: at < 0 ? '–' : at + 1, count })}
          </Text>
          <BarButton label={t('log.previous')} onClick={previous}>
            <IconChevronUp size={16} aria-hidden />
          </BarButton>
          <BarButton label={t('log.next')} onClick={next}>
            <IconChevronDown size={16} aria-hidden />
          </BarButton>
        </>
      )}
    </Group>
  );
}
