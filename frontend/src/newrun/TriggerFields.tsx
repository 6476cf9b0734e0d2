import { Checkbox, Group, NativeSelect, NumberInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Times } from '../schedules/TriggerText';
import { isCron, unitSeconds, upcoming } from '../schedules/trigger';
import { draftTrigger, type TriggerDraft } from './triggerDraft';

interface TriggerFieldsProps {
  draft: TriggerDraft;
  onChange: (draft: TriggerDraft) => void;
}

const shownTimes = 5;
// The most that the server lets run at once.
const mostAtOnce = 10;

/** When a schedule's runs start, with the next times written out. */
export function TriggerFields({ draft, onChange }: TriggerFieldsProps) {
  const { t } = useTranslation();
  const timesID = useId();
  const [now] = useState(Date.now);
  const set = (patch: Partial<TriggerDraft>) => onChange({ ...draft, ...patch });
  const trigger = draftTrigger(draft);
  const ordered = !draft.start || !draft.end || draft.start <= draft.end;
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t('trigger.kind')}
        style={{ alignSelf: 'flex-start' }}
        value={draft.kind}
        data={[
          { value: 'period', label: t('trigger.period') },
          { value: 'cron', label: t('trigger.cron') },
        ]}
        onChange={(kind) => set({ kind: kind as TriggerDraft['kind'] })}
      />
      {draft.kind === 'period' ? (
        <Group gap="xs" align="flex-start">
          <TextInput
            label={t('trigger.every')}
            w={110}
            inputMode="numeric"
            value={draft.count}
            error={!trigger && ordered && t('trigger.badPeriod')}
            onChange={(event) => set({ count: event.currentTarget.value })}
          />
          <NativeSelect
            label={t('trigger.unit')}
            value={draft.unit}
            data={(Object.keys(unitSeconds) as (keyof typeof unitSeconds)[]).map((value) => ({
              value,
              label: t(`trigger.units.${value}`),
            }))}
            onChange={(event) => set({ unit: event.currentTarget.value as TriggerDraft['unit'] })}
          />
        </Group>
      ) : (
        <TextInput
          label={t('trigger.expression')}
          description={t('trigger.expressionHint')}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          value={draft.cron}
          error={!isCron(draft.cron) && t('trigger.badCron')}
          onChange={(event) => set({ cron: event.currentTarget.value })}
        />
      )}
      <Group gap="sm" align="flex-start">
        <TextInput
          type="datetime-local"
          label={`${t('schedules.from')} (${t('field.optional')})`}
          value={draft.start}
          onChange={(event) => set({ start: event.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          label={`${t('schedules.until')} (${t('field.optional')})`}
          value={draft.end}
          error={!ordered && t('trigger.badSpan')}
          onChange={(event) => set({ end: event.currentTarget.value })}
        />
        <NumberInput
          label={t('trigger.atOnce')}
          w={150}
          min={1}
          max={mostAtOnce}
          allowDecimal={false}
          clampBehavior="strict"
          value={draft.maxConcurrency}
          onChange={(value) => set({ maxConcurrency: Number(value) || 1 })}
        />
      </Group>
      <Text size="xs" c="dimmed">
        {t('trigger.atOnceHint')}
      </Text>
      <Checkbox
        label={t('trigger.catchUp')}
        description={draft.catchUp ? t('schedules.catchUpAll') : t('schedules.catchUpNewest')}
        checked={draft.catchUp}
        onChange={(event) => set({ catchUp: event.currentTarget.checked })}
      />
      {trigger && (
        <section aria-labelledby={timesID}>
          <Text id={timesID} size="sm" fw={550}>
            {t('schedules.nextTimes')}
          </Text>
          <Text size="sm" component="div">
            <Times times={upcoming(trigger, now, now, shownTimes)} />
          </Text>
        </section>
      )}
    </Stack>
  );
}
