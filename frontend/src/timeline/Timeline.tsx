import { Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { runEventsQuery } from '../api/cluster';
import { runLogsQuery } from '../api/runs';
import { formatDuration, formatMark, formatTime } from '../format/format';
import { useNow } from '../format/useNow';
import type { RunSearch, ShowPatch } from '../runs/runSearch';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { isFinal } from '../status/status';
import { type Row, type Span, timelineOf } from './model';
import { pullsOf } from './pulls';
import classes from './Timeline.module.css';
import { useLaneGestures } from './useLaneGestures';
import { useRange } from './useRange';
import type { Range } from './view';
import { onZoomKey, ZoomBar } from './ZoomBar';

interface TimelineProps {
  run: Run;
  search: RunSearch;
  selected: string | undefined;
  onSelect: (id: string) => void;
  onShow: ShowPatch;
}

/** When each step waited, pulled images and ran, and which steps the end of the run waited for. */
export function Timeline({ run, search, selected, onSelect, onShow }: TimelineProps) {
  const { t } = useTranslation();
  const live = !isFinal(run.status);
  const now = useNow(live);
  const { data: logs = [] } = useQuery(runLogsQuery(run));
  const { data: cluster } = useQuery(runEventsQuery(run));
  const pulls = useMemo(() => pullsOf(cluster?.events ?? []), [cluster]);
  const { rows, from, to } = useMemo(
    () => timelineOf((run.nodes ?? []) as RunNode[], logs, now, pulls),
    [run.nodes, logs, now, pulls],
  );
  const [range, onRange] = useRange(search.during, onShow);
  const scroll = useRef<HTMLElement>(null);
  const length = Math.max(1, (to - from) / 1000);
  const zoom = { view: range ?? ([0, length] satisfies Range), length, onView: onRange };
  const drag = useLaneGestures(scroll, zoom);
  const view = { from: from + zoom.view[0] * 1000, to: from + zoom.view[1] * 1000 };
  return (
    <>
      {rows.length === 0 ? (
        <Text c="dimmed" p="lg" role="status">
          {t(live ? 'run.noSteps' : 'run.noStepsFinal')}
        </Text>
      ) : (
        <div className={classes.keys}>
          <Legend pulls={pulls.length > 0} />
          <ViewText view={view} />
          <ZoomBar {...zoom} />
        </div>
      )}
      <section
        ref={scroll}
        className={classes.scroll}
        hidden={rows.length === 0}
        aria-label={t('timeline.keys')}
        tabIndex={0}
        onKeyDown={(event) => onZoomKey(event, zoom)}
      >
        <table className={classes.table} aria-label={t('timeline.label')}>
          <thead>
            <tr>
              <th scope="col">{t('field.step')}</th>
              <th scope="col">
                <Marks view={view} whole={!range} />
              </th>
              <th scope="col">{t('timeline.waited')}</th>
              {pulls.length > 0 && <th scope="col">{t('timeline.pulled')}</th>}
              <th scope="col">{t('timeline.ran')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <TimelineRow
                key={row.step.id}
                row={row}
                view={view}
                drag={drag}
                pulls={pulls.length > 0}
                chosen={row.step.id === selected}
                onSelect={onSelect}
              />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** What is shown, in milliseconds since 1970. */
interface View {
  from: number;
  to: number;
}

function Legend({ pulls }: { pulls: boolean }) {
  const { t } = useTranslation();
  const kinds = ['waiting', pulls && 'pulling', 'running', 'earlier'] as const;
  return (
    <>
      {kinds.map(
        (kind) =>
          kind && (
            <span key={kind}>
              <i className={classes.key} data-kind={kind} aria-hidden /> {t(`timeline.${kind}`)}
            </span>
          ),
      )}
      <span>
        <i className={classes.key} data-kind="running" data-critical aria-hidden /> {t('timeline.critical')}
      </span>
    </>
  );
}

function ViewText({ view: { from, to } }: { view: View }) {
  const { i18n } = useTranslation();
  return (
    <span className={classes.range} role="status">
      {formatTime(new Date(from).toISOString(), i18n.language)} · {formatDuration(to - from, i18n.language)}
    </span>
  );
}

/** Begin, middle and end: counted from the start of the run, or in a part of it as times of day. */
function Marks({ view: { from, to }, whole }: { view: View; whole: boolean }) {
  const { i18n } = useTranslation();
  const mark = (part: number) => {
    const at = part * (to - from);
    return whole ? formatDuration(at, i18n.language) : formatMark(from + at, to - from, i18n.language);
  };
  return (
    <span className={classes.scale}>
      <span>{whole ? 0 : mark(0)}</span>
      <span>{mark(0.5)}</span>
      <span>{mark(1)}</span>
    </span>
  );
}

interface TimelineRowProps {
  row: Row;
  view: View;
  /** What is drawn over, as shares of the lane. */
  drag: [number, number] | undefined;
  /** Whether there is a column for pulls. */
  pulls: boolean;
  chosen: boolean;
  onSelect: (id: string) => void;
}

function TimelineRow({ row: { step, spans, critical }, view, drag, pulls, chosen, onSelect }: TimelineRowProps) {
  const { t, i18n } = useTranslation();
  const word = useStatusWord();
  const say = (kind: Span['kind']) => {
    const own = spans.filter((span) => span.kind === kind);
    const ms = own.reduce((sum, span) => sum + span.to - span.from, 0);
    return own.length > 0 ? formatDuration(ms, i18n.language) : t('field.none');
  };
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
      <td className={classes.lane} data-lane>
        {inView(spans, view).map((span) => (
          <span
            key={`${span.kind} ${span.attempt} ${span.from}`}
            className={classes.bar}
            data-kind={span.kind}
            data-phase={span.kind === 'running' ? step.phase : undefined}
            data-critical={(critical && span.kind === 'running') || undefined}
            style={placeOf(span, view)}
            title={t('timeline.span', {
              what: t(`timeline.${span.kind}`),
              attempt: span.attempt,
              length: formatDuration(span.to - span.from, i18n.language),
              at: formatTime(new Date(span.from).toISOString(), i18n.language),
            })}
          />
        ))}
        {drag && (
          <span
            className={classes.drag}
            style={{ left: percent(Math.min(...drag)), width: percent(Math.abs(drag[1] - drag[0])) }}
          />
        )}
      </td>
      <td className={classes.time}>{say('waiting')}</td>
      {pulls && <td className={classes.time}>{say('pulling')}</td>}
      <td className={classes.time}>{say('running')}</td>
    </tr>
  );
}

const percent = (share: number) => `${share * 100}%`;

const inView = (spans: Span[], { from, to }: View) => spans.filter((span) => span.to >= from && span.from <= to);

/** Where a bar lies; what is not in view is cut off. */
function placeOf(span: Span, { from, to }: View) {
  const [start, end] = [Math.max(span.from, from), Math.min(span.to, to)];
  return { left: percent((start - from) / (to - from)), width: percent((end - start) / (to - from)) };
}
