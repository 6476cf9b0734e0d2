import { Button, Checkbox, SegmentedControl, Select, Slider, Stack, Text, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type RunSearch, readZoom, type ShowPatch } from '../runs/runSearch';
import { SearchField } from '../table/SearchField';
import { type Axis, axes, axisOf, metricOf } from './axis';
import classes from './Metrics.module.css';

interface MetricControlsProps {
  search: RunSearch;
  /** The metrics that have points. */
  names: string[];
  /** The ranks that print, in order. */
  ranks: number[];
  onShow: ShowPatch;
}

/** How the curves are drawn: all charts alike, and kept in the address of the page. */
export function MetricControls({ search, names, ranks, onShow }: MetricControlsProps) {
  const { t } = useTranslation();
  const axis = search.x ?? 'step';
  const along = metricOf(axis);
  const label = useId();
  const onAxis = (x: Axis) => onShow({ x, zoom: undefined, xscale: x === 'time' ? undefined : search.xscale });
  return (
    <div className={classes.controls}>
      <SearchField
        size="xs"
        w={180}
        label={t('metrics.find')}
        q={search.metric}
        onSearch={(metric) => onShow({ metric })}
      />
      <Stack gap={4}>
        <Text size="xs" fw={550} id={label}>
          {t('metrics.along')}
        </Text>
        <SegmentedControl
          size="xs"
          value={along === undefined ? axis : 'metric'}
          aria-labelledby={label}
          onChange={(to) => onAxis(to === 'metric' ? axisOf(names[0] ?? '') : (to as Axis))}
          data={[
            ...axes.map((value) => ({ value, label: t(`metrics.axis.${value}`) })),
            { value: 'metric', label: t('metrics.axis.metric') },
          ]}
        />
      </Stack>
      {along !== undefined && (
        <Select
          size="xs"
          w={180}
          searchable
          allowDeselect={false}
          label={t('metrics.alongWhich')}
          value={along}
          data={names.includes(along) ? names : [along, ...names]}
          onChange={(to) => to && onAxis(axisOf(to))}
        />
      )}
      {ranks.length > 1 && <RankField key={search.ranks} search={search} ranks={ranks} onShow={onShow} />}
      <Stack gap={4} w={150}>
        <Text size="xs" fw={550} aria-hidden>
          {t('metrics.smoothing')} {Math.round((search.smooth ?? 0) * 100)}%
        </Text>
        <Slider
          py={8}
          size="sm"
          min={0}
          max={0.99}
          step={0.01}
          label={null}
          thumbLabel={t('metrics.smoothing')}
          defaultValue={search.smooth ?? 0}
          onChangeEnd={(smooth) => onShow({ smooth: smooth || undefined })}
        />
      </Stack>
      <Checkbox
        size="xs"
        pb={8}
        label={t('metrics.log')}
        checked={search.scale === 'log'}
        onChange={(event) => onShow({ scale: event.currentTarget.checked ? 'log' : undefined })}
      />
      {axis !== 'time' && (
        <Checkbox
          size="xs"
          pb={8}
          label={t('metrics.logX')}
          checked={search.xscale === 'log'}
          onChange={(event) => onShow({ xscale: event.currentTarget.checked ? 'log' : undefined, zoom: undefined })}
        />
      )}
      {axis !== 'time' && <RangeFields key={search.zoom} zoom={search.zoom} onShow={onShow} />}
      {search.zoom && (
        <Button size="xs" variant="default" onClick={() => onShow({ zoom: undefined })}>
          {t('metrics.whole')}
        </Button>
      )}
    </div>
  );
}

function RankField({ search, ranks, onShow }: Omit<MetricControlsProps, 'names'>) {
  const { t } = useTranslation();
  const own = search.ranks && search.ranks !== 'each' && search.ranks !== 'mean';
  const [choosing, setChoosing] = useState(Boolean(own));
  return (
    <>
      <Select
        size="xs"
        w={170}
        label={t('metrics.ranks')}
        allowDeselect={false}
        value={choosing ? 'some' : (search.ranks ?? 'auto')}
        data={[
          { value: 'auto', label: t('metrics.auto') },
          { value: 'each', label: t('metrics.each') },
          { value: 'mean', label: t('metrics.mean') },
          { value: 'some', label: t('metrics.some') },
        ]}
        onChange={(to) => {
          setChoosing(to === 'some');
          if (to !== 'some') onShow({ ranks: to === 'auto' || !to ? undefined : to });
        }}
      />
      {choosing && (
        <TextInput
          size="xs"
          w={120}
          label={t('metrics.which')}
          placeholder={`${ranks[0]},${ranks.at(-1)}`}
          defaultValue={own ? search.ranks : ''}
          onBlur={(event) => onShow({ ranks: listOf(event.currentTarget.value) })}
          onKeyDown={(event) => event.key === 'Enter' && onShow({ ranks: listOf(event.currentTarget.value) })}
        />
      )}
    </>
  );
}

/** What was typed, as ranks: 0 3-5 is 0,3,4,5. */
export function listOf(typed: string): string | undefined {
  const ranks = new Set<number>();
  for (const [, first, , last] of typed.matchAll(/(-?\d+)(-(\d+))?/g)) {
    const from = Number(first);
    const to = Math.min(last === undefined ? from : Number(last), from + 1000);
    for (let rank = from; rank <= to; rank++) ranks.add(rank);
  }
  return ranks.size > 0 ? [...ranks].join() : undefined;
}

/** The part that is shown, for those who cannot drag over a chart. */
function RangeFields({ zoom, onShow }: { zoom: string | undefined; onShow: ShowPatch }) {
  const { t } = useTranslation();
  const [from, to] = readZoom(zoom) ?? [];
  const [ends, setEnds] = useState([String(from ?? ''), String(to ?? '')]);
  const field = (index: 0 | 1, label: string) => (
    <TextInput
      size="xs"
      w={86}
      label={label}
      inputMode="decimal"
      value={ends[index]}
      onChange={(event) =>
        setEnds(index === 0 ? [event.currentTarget.value, ends[1] ?? ''] : [ends[0] ?? '', event.currentTarget.value])
      }
      onBlur={() => readZoom(ends.join('~')) && onShow({ zoom: ends.join('~') })}
      onKeyDown={(event) => event.key === 'Enter' && readZoom(ends.join('~')) && onShow({ zoom: ends.join('~') })}
    />
  );
  return (
    <>
      {field(0, t('metrics.from'))}
      {field(1, t('metrics.to'))}
    </>
  );
}
