import './ansi.css';
import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconArrowBarToDown, IconArrowBarToUp, IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { VList, type VListHandle } from 'virtua';
import { type LogSource, logPartQuery, partLines } from '../api/logs';
import { announce } from '../app/announce';
import { Failure } from '../feedback/Failure';
import { BarButton } from './BarButton';
import { LogLine } from './LogLine';
import classes from './LogView.module.css';
import { lastState } from './lines';
import { SearchField } from './SearchField';
import { firstError } from './search';
import { useFollow } from './useFollow';
import { useLineLink } from './useLineLink';
import { useLog } from './useLog';
import { useSearch } from './useSearch';

interface LogViewProps {
  /** Name of the step, for labels. */
  step: string;
  /** Where the log is followed; several are merged by time, and so have times in front of their lines. */
  urls: string[];
  /** Names of the logs, when they are several. */
  names?: string[];
  /** Where the server searches the log, or several, and finds lines of one that are not held here. */
  source?: LogSource;
  /** Where the whole log is, as a file; absent when there are several. */
  download?: string;
}

/** A log that follows its step: it scrolls along until the reader scrolls up, and can be searched and linked by line. */
export default function LogView({ step, urls, names, source, download }: LogViewProps) {
  const { t } = useTranslation();
  const { lines, of, numbers, dropped, phase, problem, restart } = useLog(urls);
  // Of several logs the lines that are not held here have no place.
  const single = source?.merged ? undefined : source;
  const list = useRef<VListHandle>(null);
  const { linked, link } = useLineLink();
  const { following, follow, pause, onScroll } = useFollow(list, lines.length, linked === undefined);
  // The number of a line among those that are not held here, when those around it are shown.
  const [middle, setMiddle] = useState<number>();
  const part = useQuery(logPartQuery(single, middle));
  const away = middle !== undefined;
  const shown = away ? (part.data?.lines.map(lastState) ?? []) : lines;
  const before = away ? (part.data?.first ?? 1) - 1 : dropped;

  /** Brings a line into view, from the server if it is not held here any more. */
  const [wanted, setWanted] = useState<number>();
  const show = (number: number) => {
    pause();
    setWanted(number);
    const inPart = away && number > before && number <= before + shown.length;
    if (single && number <= dropped) setMiddle(inPart ? middle : number);
    else setMiddle(undefined);
  };
  const at = wanted === undefined ? -1 : wanted - 1 - before;
  const there = at >= 0 && at < shown.length;
  useEffect(() => {
    if (!there) return;
    list.current?.scrollToIndex(at, { align: 'center' });
    setWanted(undefined);
  }, [there, at]);

  const search = useSearch({ lines, before: dropped, source, of, numbers, ended: phase === 'ended', show });

  const toStart = () => {
    pause();
    if (single && dropped > 0) show(1);
    else list.current?.scrollToIndex(0);
  };
  const toEnd = () => {
    setMiddle(undefined);
    follow();
  };
  const toError = () => {
    const index = firstError(lines);
    announce(t(index < 0 ? 'log.noError' : 'log.atError', { number: dropped + index + 1 }));
    if (index < 0) return;
    link(dropped + index + 1);
    show(dropped + index + 1);
  };

  // A link to a line waits until that line has arrived, or has been dropped.
  const arrived = linked !== undefined && (linked <= dropped || linked - dropped <= lines.length);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another line moves the view
  useEffect(() => {
    if (arrived) show(linked);
  }, [arrived, linked]);

  const state = phase === 'ended' ? t('log.ended') : following ? t('log.following') : t('log.paused');
  return (
    <div className={classes.view}>
      <Group gap={6} className={classes.bar}>
        <SearchField {...search} />
        <Group gap={2} ml="auto">
          <BarButton label={t('log.toError')} onClick={toError}>
            <IconAlertTriangle size={16} aria-hidden />
          </BarButton>
          <BarButton label={t('log.toStart')} onClick={toStart}>
            <IconArrowBarToUp size={16} aria-hidden />
          </BarButton>
          <BarButton label={t('log.toEnd')} onClick={toEnd}>
            <IconArrowBarToDown size={16} aria-hidden />
          </BarButton>
          {download && (
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
          )}
        </Group>
      </Group>
      {search.lost && (
        <Text size="xs" c="dimmed" px="sm" py={4} role="status">
          {t('log.lost', { line: search.lost.line, name: names?.[search.lost.log] ?? '' })}
        </Text>
      )}
      {problem && <Failure title={t('log.failed')} error={problem} onRetry={restart} />}
      {part.error && <Failure title={t('log.failed')} error={part.error} onRetry={() => void part.refetch()} />}
      {away ? (
        <PartBar
          from={before + 1}
          to={before + shown.length}
          last={dropped}
          onMove={(number) => show(number)}
          onBack={toEnd}
        />
      ) : (
        dropped > 0 && (
          <Text size="xs" c="dimmed" px="sm" py={4}>
            {t(single ? 'log.droppedHere' : 'log.dropped', { count: dropped })}
          </Text>
        )
      )}
      {shown.length === 0 && !problem ? (
        <Text size="sm" c="dimmed" p="md" role="status" className={classes.none}>
          {t(phase === 'waiting' || away ? 'await.why' : phase === 'open' ? 'log.empty' : 'log.emptyEnded', {
            what: t('await.log'),
          })}
        </Text>
      ) : (
        <div className={classes.text}>
          <VList
            ref={list}
            key={away ? before : 'live'}
            data={shown}
            itemSize={20}
            onScroll={away ? undefined : onScroll}
            className={classes.scroller}
            role="region"
            aria-label={t('log.label', { step })}
            tabIndex={0}
          >
            {(line, index) => (
              <LogLine
                key={before + index}
                text={line}
                number={before + index + 1}
                words={search.words}
                current={search.current === before + index + 1}
                linked={linked === before + index + 1}
                onLink={link}
                tag={names?.[of?.[index] ?? -1]}
                place={of?.[index] ?? 0}
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
          <Button size="compact-xs" variant="light" onClick={toEnd}>
            {t('log.follow')}
          </Button>
        )}
      </Group>
    </div>
  );
}

interface PartBarProps {
  from: number;
  to: number;
  /** The last line that is not held here. */
  last: number;
  onMove: (middle: number) => void;
  onBack: () => void;
}

/** Says which part of the log is shown in place of its end, and leads to others. */
function PartBar({ from, to, last, onMove, onBack }: PartBarProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" px="sm" py={4}>
      <Text size="xs" c="dimmed" role="status">
        {to >= from ? t('log.part', { from, to }) : t('await.why', { what: t('await.log') })}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        disabled={from <= 1}
        onClick={() => onMove(Math.max(1, from - partLines / 2))}
      >
        {t('log.earlier')}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => (to >= last ? onBack() : onMove(Math.min(last, to + partLines / 2)))}
      >
        {t('log.later')}
      </Button>
      <Button size="compact-xs" variant="light" onClick={onBack}>
        {t('log.back')}
      </Button>
    </Group>
  );
}
