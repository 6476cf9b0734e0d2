import { Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { ButtonLink } from '../app/links';
import { type Brush, withBrush } from './brush';
import classes from './Compare.module.css';
import { type Axis, places } from './measure';

interface BrushFieldsProps {
  axes: Axis[];
  brushes: Brush[];
  /** The ranges as the address has them. */
  texts: string[] | undefined;
  onChange: (texts: string[] | undefined) => void;
}

/** The ranges of the axes as fields. */
export function BrushFields({ axes, brushes, texts, onChange }: BrushFieldsProps) {
  const { t } = useTranslation();
  // Later the reader opens and closes them.
  const [open] = useState(brushes.length > 0);
  return (
    <details className={classes.numbers} open={open}>
      <summary>{t('compare.ranges')}</summary>
      <Group gap="md" mt="xs" align="flex-end">
        {axes.map((axis) => (
          <fieldset key={axis.key} className={classes.range}>
            <legend>{axis.label}</legend>
            <RangeFields
              axis={axis}
              range={brushes.find(({ key }) => key === axis.key)}
              onRange={(range) => onChange(withBrush(texts, axis.key, range))}
            />
          </fieldset>
        ))}
      </Group>
    </details>
  );
}

interface RangeFieldsProps {
  axis: Axis;
  range: Brush | undefined;
  onRange: (range: { from?: number; to?: number }) => void;
}

function RangeFields({ axis, range, onRange }: RangeFieldsProps) {
  const { t } = useTranslation();
  const { words } = places(axis);
  const ends = [
    { end: 'from', label: t('compare.rangeFrom', { axis: axis.label }), short: t('compare.from') },
    { end: 'to', label: t('compare.rangeTo', { axis: axis.label }), short: t('compare.to') },
  ] as const;
  return (
    <Group gap={6} wrap="nowrap">
      {ends.map(({ end, label, short }) =>
        words ? (
          <NativeSelect
            key={end}
            size="xs"
            w={110}
            aria-label={label}
            // A drag may end between two words.
            value={range?.[end] === undefined ? '' : end === 'from' ? Math.ceil(range[end]) : Math.floor(range[end])}
            data={[{ value: '', label: short }, ...words.map((word, i) => ({ value: String(i), label: word || '""' }))]}
            onChange={({ currentTarget: { value } }) => onRange({ ...range, [end]: numberOf(value) })}
          />
        ) : (
          <TextInput
            key={end}
            type="number"
            step="any"
            size="xs"
            w={100}
            aria-label={label}
            placeholder={short}
            value={range?.[end] ?? ''}
            onChange={({ currentTarget: { value } }) => onRange({ ...range, [end]: numberOf(value) })}
          />
        ),
      )}
    </Group>
  );
}

const numberOf = (text: string) => (text === '' ? undefined : Number(text));

interface BrushedProps {
  runs: Run[];
  selected: Set<string> | undefined;
  onClear: () => void;
}

/** How many runs are selected, and what can be done with them. */
export function Brushed({ runs, selected, onClear }: BrushedProps) {
  const { t } = useTranslation();
  const ids = runs.flatMap(({ id }) => (selected?.has(id) ? [id] : []));
  return (
    <Group gap="sm">
      <Text size="sm" role="status">
        {selected && t('compare.selected', { count: ids.length, all: runs.length })}
      </Text>
      {selected && (
        <Button size="compact-sm" variant="default" onClick={onClear}>
          {t('compare.clearRanges')}
        </Button>
      )}
      {ids.length > 1 && ids.length < runs.length && (
        <ButtonLink size="compact-sm" variant="default" to="/compare" search={{ runs: ids }}>
          {t('compare.onlyThese')}
        </ButtonLink>
      )}
    </Group>
  );
}
