import { NativeSelect, NumberInput, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ScalingReport } from '../api/scaling';
import type { ScalingSearch } from './scalingSearch';

interface ChoicesProps {
  report: ScalingReport;
  search: ScalingSearch;
  onChange: (patch: ScalingSearch) => void;
}

/** What is reported: the metric, the parameter, the base, and the price of a rank. */
export function Choices({ report, search, onChange }: ChoicesProps) {
  const { t } = useTranslation();
  // What is typed is kept until typing pauses: a second field does not drop what was typed into the first.
  const typed = useRef<ScalingSearch>({});
  const settle = useDebouncedCallback(() => {
    onChange(typed.current);
    typed.current = {};
  }, 400);
  const later = (patch: ScalingSearch) => {
    typed.current = { ...typed.current, ...patch };
    settle();
  };
  const metrics = report.metrics ?? [];
  const key = (name = '', step = '') => JSON.stringify([name, step]);
  const by = search.by ?? report.result?.by ?? '';
  const values = report.varying?.find(({ name }) => name === by)?.values ?? [];
  const taken = metrics.find(
    ({ name, step_name }) => name === report.metric && (!report.step || step_name === report.step),
  );
  return (
    <>
      <NativeSelect
        label={t('field.metric')}
        value={taken ? key(taken.name, taken.step_name) : ''}
        data={[
          ...(taken ? [] : [{ value: '', label: report.metric ?? '' }]),
          ...metrics.map(({ name, step_name }) => ({
            value: key(name, step_name),
            label: t('scaling.metricOf', { metric: name, step: step_name }),
          })),
        ]}
        onChange={(event) => {
          const [metric, step] = JSON.parse(event.currentTarget.value || '[]') as string[];
          onChange({ metric, step });
        }}
      />
      <NativeSelect
        label={t('scaling.by')}
        value={by}
        data={[
          ...(report.varying?.some(({ name }) => name === by) ? [] : [{ value: by, label: by || t('field.none') }]),
          ...(report.varying ?? []).map(({ name }) => name ?? ''),
        ]}
        onChange={(event) => onChange({ by: event.currentTarget.value || undefined, base: undefined })}
      />
      <NativeSelect
        label={t('scaling.base')}
        value={search.base ?? ''}
        data={[{ value: '', label: t('scaling.smallestBase') }, ...values]}
        onChange={(event) => onChange({ base: event.currentTarget.value || undefined })}
      />
      <NumberInput
        label={t('scaling.price')}
        w={200}
        min={0}
        decimalScale={4}
        defaultValue={search.price ? Number(search.price) : ''}
        onChange={(value) => later({ price: value ? String(value) : undefined })}
      />
      <TextInput
        label={t('scaling.source')}
        placeholder={t('scaling.sourceHint')}
        w={240}
        defaultValue={search.source ?? ''}
        error={search.price && !search.source ? t('scaling.sourceMissing') : undefined}
        onChange={(event) => later({ source: event.currentTarget.value || undefined })}
      />
    </>
  );
}
