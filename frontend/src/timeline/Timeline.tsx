import { Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { runLogsQuery } from '../api/runs';
import { formatDuration, formatTime } from '../format/format';
import { useNow } from '../format/useNow';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { isFinal } from '../status/status';
import { type Row, type Span, timelineOf } from './model';
import classes from './Timeline.module.css';

interface TimelineProps {
  run: Run;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** When each step waited and ran, and which steps the end of the run waited for. */
export function Timeline({ run, selected, onSelect }: TimelineProps) {
  const { t, i18n } = useTranslation();
  const live = !isFinal(run.status);
  const now = useNow(live);
  const { data: logs = [] } = useQuery(runLogsQuery(run));
  const timeline = useMemo(() => timelineOf((run.nodes ?? []) as RunNode[], logs, now), [run.nodes, logs, now]);
  if (timeline.rows.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {t(live ? 'run.noSteps' : 'run.noStepsFinal')}
      </Text>
    );
  }
  const length = Math.max(1, timeline.to - timeline.from);
  return (
    <>
      <div className={classes.keys}>
        {(['waiting', 'running', 'earlier'] as const).map((kind) => (
          <span key={kind}>
            <i className={classes.key} data-kind={kind} aria-hidden /> {t(`timeline.${kind}`)}
          </span>
        ))}
        <span>
          <i className={classes.key} data-kind="running" data-critical aria-hidden /> {t('timeline.critical')}
        </span>
        <span className={classes.range}>
          {formatTime(new Date(timeline.from).toISOString(), i18n.language)} · {formatDuration(length, i18n.language)}
        </span>
      </div>
      <div className={classes.scroll}>
        <table className={classes.table} aria-label={t('timeline.label')}>
          <thead>
            <tr>
              <th scope="col">{t('field.step')}</th>
              <th scope="col" className={classes.scale}>
                <span>0</span>
                <span>{formatDuration(length / 2, i18n.language)}</span>
                <span>{formatDuration(length, i18n.language)}</span>
              </th>
              <th scope="col">{t('timeline.waited')}</th>
              <th scope="col">{t('timeline.ran')}</th>
            </tr>
          </thead>
          <tbody>
            {timeline.rows.map((row) => (
              <TimelineRow
                key={row.step.id}
                row={row}
                from={timeline.from}
                length={length}
                chosen={row.step.id === selected}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface TimelineRowProps {
  row: Row;
  from: number;
  length: number;
  chosen: boolean;
  onSelect: (id: string) => void;
}

function TimelineRow({ row: { step, spans, critical }, from, length, chosen, onSelect }: TimelineRowProps) {
  const { t, i18n } = useTranslation();
  const word = useStatusWord();
  const say = (kind: Span['kind']) => {
    const own = spans.filter((span) => span.kind === kind);
    const ms = own.reduce((sum, span) => sum + span.to - span.from, 0);
    return own.length > 0 ? formatDuration(ms, i18n.language) : t('field.none');
  };
  const percent = (ms: number) => `${(ms / length) * 100}%`;
  return (
    <tr data-selected={chosen || undefined} data-critical={critical || undefined}>
      <th scope="row">
        <UnstyledButton
          className={classes.name}
          aria-pressed={chosen}
          onClick={() => onSelect(step.id)}
          title={step.name}
        >
          <StatusIcon phase={step.phase} size={15} />
          <span>{step.name}</span>
          <span className={classes.hidden}>
            {word(step.phase)} {critical && t('timeline.critical')}
          </span>
        </UnstyledButton>
      </th>
      <td className={classes.lane}>
        {spans.map((span) => (
          <span
            key={`${span.kind}${span.attempt}${span.from}`}
            className={classes.bar}
            data-kind={span.kind}
            data-phase={span.kind === 'running' ? step.phase : undefined}
            data-critical={(critical && span.kind === 'running') || undefined}
            style={{ left: percent(span.from - from), width: percent(span.to - span.from) }}
            title={t('timeline.span', {
              what: t(`timeline.${span.kind}`),
              attempt: span.attempt,
              length: formatDuration(span.to - span.from, i18n.language),
              at: formatTime(new Date(span.from).toISOString(), i18n.language),
            })}
          />
        ))}
      </td>
      <td className={classes.time}>{say('waiting')}</td>
      <td className={classes.time}>{say('running')}</td>
    </tr>
  );
}
