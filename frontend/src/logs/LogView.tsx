import './ansi.css';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { VList } from 'virtua';
import { type LogSource, lineKey, logPartQuery, logURL, type Place } from '../api/logs';
import type { NodeLog } from '../api/runs';
import { Failure } from '../feedback/Failure';
import { groupsOf } from './groups';
import { LogBar } from './LogBar';
import { LogColumns } from './LogColumns';
import { LogFoot } from './LogFoot';
import { LogLine } from './LogLine';
import classes from './LogView.module.css';
import { LostLine } from './LostLine';
import { type Held, lastState, openingLines } from './lines';
import { gone, numberOf } from './merged';
import { PartBar } from './PartBar';
import { useFirstError } from './useFirstError';
import { type Scroller, useFollow } from './useFollow';
import { useGroups } from './useGroups';
import { useLineLink } from './useLineLink';
import { useLog } from './useLog';
import { useSearch } from './useSearch';

/** What is shown of a log, as the URL has it. */
export interface LogChoice {
  find?: string;
  wrap?: 'off';
  side?: 'on';
}

// So many logs fit beside each other.
const mostColumns = 6;

export interface LogViewProps extends LogChoice {
  /** Name of the step, or of the run, for labels. */
  step: string;
  /** Where the log is, or several, which are merged by time. */
  source: LogSource;
  /** The names of logs, by their keys; also by the logs themselves, where they have joined. */
  nameOf?: (key: string, log?: NodeLog) => string;
  onShow: (patch: LogChoice) => void;
}

/** A log that follows its step: it scrolls along until the reader scrolls up, and can be searched and linked by line. */
export default function LogView({
  step,
  source,
  nameOf: naming = String,
  find = '',
  wrap,
  side,
  onShow,
}: LogViewProps) {
  const { t } = useTranslation();
  const log = useLog(logURL(source, { follow: true, tail: openingLines }), source.merged !== undefined);
  const { lines, of, numbers, logs, dropped, groups, inGroup, phase, problem, restart } = log;
  const ended = phase === 'ended';
  const wholeRun = source.nodeID === undefined;
  const byKey = useMemo(() => new Map(logs?.map((each) => [lineKey(each), each])), [logs]);
  const nameOf = (key: string) => naming(key, byKey.get(key));
  // Of several logs the lines that are not held here have no place.
  const single = source.merged ? undefined : source;
  const list = useRef<Scroller>(null);
  const { linked, link, alone } = useLineLink();
  // The number of a line among those that are not held here, when those around it are shown.
  const [middle, setMiddle] = useState<number>();
  const part = useQuery(logPartQuery(single, middle));
  const away = middle !== undefined;
  const held = useMemo((): Held => {
    if (!away) return { lines, of, numbers, logs, dropped, groups, inGroup };
    const texts = part.data?.lines.map(lastState) ?? [];
    const first = part.data?.first ?? 1;
    return { lines: texts, dropped: first - 1, ...groupsOf(texts, first) };
  }, [away, part.data, lines, of, numbers, logs, dropped, groups, inGroup]);
  const { lines: shown, dropped: before } = held;
  const keyAt = (index: number) => (logs ? lineKey(logs[of?.[index] ?? 0] ?? {}) : undefined);
  const numberIn = useCallback(
    (place: Place) => (logs ? numberOf({ lines, logs, of, numbers, dropped }, place) : place.line),
    [lines, logs, of, numbers, dropped],
  );

  /** Brings a line into view, from the server if it is not held here any more. */
  const [wanted, setWanted] = useState<number>();
  const show = (number: number) => {
    pause();
    setWanted(number);
    const inPart = away && number > before && number <= before + shown.length;
    if (single && number <= dropped) setMiddle(inPart ? middle : number);
    else setMiddle(undefined);
  };
  const keep = (words: string) => onShow({ find: words || undefined });
  const search = useSearch({ source, numberOf: numberIn, ended, show, kept: find, keep });
  const { rows, rowOf, groupOn, reveal } = useGroups(held, search.places);
  const count = rows?.length ?? shown.length;
  const { following, follow, pause, onScroll } = useFollow(list, count, linked === undefined);
  const at = wanted === undefined ? -1 : wanted - 1 - before;
  const there = at >= 0 && at < shown.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another line moves the view, and the opening of its group
  useEffect(() => {
    if (!there || reveal(at)) return;
    list.current?.scrollToIndex(rowOf(at), { align: 'center' });
    setWanted(undefined);
  }, [there, at, rows]);

  const toError = useFirstError(source, nameOf, (place) => {
    const number = numberIn(place);
    link(place);
    if (number !== undefined && number !== gone) show(number);
  });

  const toStart = () => {
    pause();
    if (single && dropped > 0) show(1);
    else list.current?.scrollToIndex(0);
  };
  const toEnd = () => {
    setMiddle(undefined);
    follow();
  };

  // A link to a line waits until that line has arrived, or has been dropped.
  const target = linked && numberIn(linked);
  const arrived = target !== undefined && target !== gone && target - dropped <= lines.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another line moves the view
  useEffect(() => {
    if (arrived) show(target);
  }, [arrived, target]);
  const unlinked = logs && linked?.log && (target === gone || (target === undefined && ended)) ? linked : undefined;
  const lost = search.lost ?? unlinked;

  const nameAt = (which: number) => nameOf(lineKey(logs?.[which] ?? {}));
  const several = useMemo(() => new Set(of).size, [of]);
  const columns = side === 'on' && several > 0 && several <= mostColumns;
  const draw = (index: number) => {
    const number = before + index + 1;
    const key = keyAt(index);
    const { inside, group } = groupOn(index);
    // Who opens a group reads it: the end stays where it is.
    const onToggle = () => {
      pause();
      group?.onToggle();
    };
    return (
      <LogLine
        key={number}
        text={shown[index] ?? ''}
        number={numbers?.[index] ?? number}
        words={search.words}
        current={search.current === number}
        linked={target === number}
        onLink={link}
        log={key}
        tag={columns || !key ? undefined : nameOf(key)}
        place={of?.[index] ?? 0}
        inside={inside}
        group={group && { ...group, onToggle }}
      />
    );
  };

  return (
    <div className={classes.view}>
      <LogBar
        step={step}
        search={search}
        wrap={wrap !== 'off'}
        onWrap={(on) => onShow({ wrap: on ? undefined : 'off' })}
        side={several > 1 && several <= mostColumns ? side === 'on' : undefined}
        onSide={(on) => onShow({ side: on ? 'on' : undefined })}
        toError={toError}
        toStart={toStart}
        toEnd={toEnd}
        download={logURL(source)}
      />
      {lost && (
        <LostLine
          place={lost}
          name={nameOf(lost.log ?? '')}
          onAlone={() => alone(lost, byKey.get(lost.log ?? '')?.node_id)}
        />
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
          {t(
            phase === 'waiting' || away
              ? 'await.why'
              : phase === 'open'
                ? wholeRun
                  ? 'log.emptyRun'
                  : 'log.empty'
                : wholeRun
                  ? 'log.emptyRunEnded'
                  : 'log.emptyEnded',
            { what: t('await.log') },
          )}
        </Text>
      ) : (
        <div className={classes.text} data-wrap={wrap} data-run={wholeRun || undefined}>
          {columns ? (
            <LogColumns ref={list} log={log} shown={rows} name={(which) => nameAt(which)} onScroll={onScroll}>
              {draw}
            </LogColumns>
          ) : (
            <VList
              ref={(handle) => {
                list.current = handle;
              }}
              key={away ? before : 'live'}
              data={rows ?? (shown as unknown[])}
              itemSize={20}
              onScroll={away ? undefined : onScroll}
              className={classes.scroller}
              role="region"
              aria-label={t('log.label', { step })}
              tabIndex={0}
            >
              {(_, row) => draw(rows?.[row] ?? row)}
            </VList>
          )}
        </div>
      )}
      <LogFoot count={dropped + lines.length} ended={ended} following={following} onFollow={toEnd} />
    </div>
  );
}
