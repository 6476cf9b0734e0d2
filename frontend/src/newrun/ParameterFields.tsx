import { Button, Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './NewRun.module.css';
import { notNumber } from './parameters';

interface ParameterFieldsProps {
  parameters: { name: string; value: string; fallback: string }[];
  /** What the manifest says about them, by name. */
  hints: Record<string, string>;
  onChange: (name: string, value: string) => void;
}

/** One field for each parameter, filled with its default. */
export function ParameterFields({ parameters, hints, onChange }: ParameterFieldsProps) {
  const { t } = useTranslation();
  if (parameters.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('newRun.noParameters')}
      </Text>
    );
  }
  return (
    <div className={classes.fields}>
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          {...parameter}
          hint={hints[parameter.name]}
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
  hint: string | undefined;
  onChange: (value: string) => void;
}

function ParameterField({ name, value, fallback, hint, onChange }: ParameterFieldProps) {
  const { t } = useTranslation();
  const changed = value !== fallback;
  const odd = notNumber(value, fallback);
  return (
    <div>
      <Textarea
        label={name}
        autosize
        minRows={1}
        maxRows={10}
        spellCheck={false}
        autoCapitalize="off"
        value={value}
        // A value may be right although it looks odd: this is said, not forbidden.
        description={odd ? t('newRun.notNumber') : hint}
        descriptionProps={odd ? { c: 'var(--ar-warn)' } : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {changed && (
        <div className={classes.hint}>
          <Text size="xs" c="dimmed" className={classes.default} title={fallback}>
            {fallback ? t('newRun.defaultIs', { value: fallback }) : t('newRun.defaultEmpty')}
          </Text>
          <Button
            variant="transparent"
            size="compact-sm"
            fz="xs"
            px={0}
            style={{ flex: 'none' }}
            aria-label={`${t('newRun.reset')}: ${name}`}
            onClick={() => onChange(fallback)}
          >
            {t('newRun.reset')}
          </Button>
        </div>
      )}
    </div>
  );
}
