import { Button, Group, JsonInput, NativeSelect, Switch, Text, Textarea, TextInput } from '@mantine/core';
import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Parameter } from '../api/client';
import type { ParameterRule } from '../pipelines/template';
import classes from './NewRun.module.css';
import { fieldKind, notNumber, problemOf, ruleHint, stepped } from './parameters';

interface ParameterFieldsProps {
  parameters: { name: string; value: string; fallback: string }[];
  /** What the values were taken from. */
  before?: { name: string; parameters: Parameter[] };
  /** What the manifest says about them, by name. */
  rules: Record<string, ParameterRule>;
  onChange: (name: string, value: string) => void;
}

/** One field for each parameter, by its type, filled with its default; what differs from that is marked. */
export function ParameterFields({ parameters, before, rules, onChange }: ParameterFieldsProps) {
  const { t } = useTranslation();
  if (parameters.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('newRun.noParameters')}
      </Text>
    );
  }
  const earlier = new Map(before?.parameters.map(({ name, value }) => [name, value ?? '']));
  return (
    <div className={classes.fields}>
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          {...parameter}
          earlier={earlier.get(parameter.name)}
          earlierName={before?.name ?? ''}
          rule={rules[parameter.name]}
          onChange={(value) => onChange(parameter.name, value)}
        />
      ))}
    </div>
  );
}

interface ParameterFieldProps {
  name: string;
  value: string;
  fallback: string;
  /** The value that the clone's original had. */
  earlier: string | undefined;
  earlierName: string;
  rule: ParameterRule | undefined;
  onChange: (value: string) => void;
}

function ParameterField({ name, value, fallback, earlier, earlierName, rule, onChange }: ParameterFieldProps) {
  const { t } = useTranslation();
  const changed = value !== fallback;
  return (
    <div className={classes.field} data-changed={changed || undefined}>
      <Control name={name} value={value} fallback={fallback} rule={rule} onChange={onChange} />
      {changed && (
        <Hint action={t('newRun.reset')} name={name} value={fallback} onAction={() => onChange(fallback)}>
          {fallback ? t('newRun.defaultIs', { value: fallback }) : t('newRun.defaultEmpty')}
        </Hint>
      )}
      {earlier !== undefined && earlier !== value && earlier !== fallback && (
        <Hint action={t('newRun.takeEarlier')} name={name} value={earlier} onAction={() => onChange(earlier)}>
          {t('newRun.earlierIs', { name: earlierName, value: earlier || t('field.none') })}
        </Hint>
      )}
    </div>
  );
}

type ControlProps = Pick<ParameterFieldProps, 'name' | 'value' | 'fallback' | 'rule' | 'onChange'>;

function Control({ name, value, fallback, rule, onChange }: ControlProps) {
  const { t } = useTranslation();
  const odd = !rule?.type && notNumber(value, fallback);
  const range = ruleHint(rule, t);
  const common = {
    label: name,
    error: problemOf(rule, value, t),
    // Without a type a value may be right although it looks odd: this is said, not forbidden.
    description: odd ? t('newRun.notNumber') : [rule?.description, range].filter(Boolean).join(' · '),
    descriptionProps: odd ? { c: 'var(--ar-warn)' } : undefined,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
  };
  const text = { ...common, value, spellCheck: false, autoCapitalize: 'off' };
  switch (fieldKind(rule, value, fallback)) {
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={value}
          data={rule?.choices?.includes(value) ? rule.choices : [value, ...(rule?.choices ?? [])]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'boolean': {
      const [yes, no] = /^[TF]/.test(fallback) ? ['True', 'False'] : ['true', 'false'];
      return (
        <Switch
          label={name}
          description={common.description}
          error={common.error}
          checked={/^true$/i.test(value)}
          onChange={(event) => onChange(event.currentTarget.checked ? (yes as string) : (no as string))}
        />
      );
    }
    case 'number':
      return (
        <TextInput
          {...text}
          inputMode={rule?.type === 'Float' ? 'decimal' : 'numeric'}
          onChange={(event) => onChange(event.currentTarget.value)}
          onKeyDown={(event) => step(event, rule, onChange)}
        />
      );
    case 'json':
      return (
        <JsonInput
          {...text}
          autosize
          minRows={1}
          maxRows={10}
          formatOnBlur={false}
          classNames={{ input: 'mono' }}
          onChange={onChange}
        />
      );
    case 'long':
      return (
        <Textarea
          {...text}
          autosize
          minRows={2}
          maxRows={10}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'text':
      return <TextInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
}

/** The arrow keys count whole numbers up and down, within their range. */
function step(
  event: KeyboardEvent<HTMLInputElement>,
  rule: ParameterRule | undefined,
  onChange: (value: string) => void,
) {
  const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
  const next = by === 0 ? undefined : stepped(rule, event.currentTarget.value, by);
  if (next === undefined) return;
  event.preventDefault();
  onChange(next);
}

interface HintProps {
  action: string;
  name: string;
  value: string;
  onAction: () => void;
  children: ReactNode;
}

function Hint({ action, name, value, onAction, children }: HintProps) {
  return (
    <Group gap={8} wrap="nowrap" className={classes.hint}>
      <Text size="xs" c="dimmed" className={classes.default} title={value}>
        {children}
      </Text>
      <Button
        variant="transparent"
        size="compact-sm"
        fz="xs"
        px={0}
        style={{ flex: 'none' }}
        aria-label={`${action}: ${name}`}
        onClick={onAction}
      >
        {action}
      </Button>
    </Group>
  );
}
