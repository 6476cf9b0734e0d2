import { Button, Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './NewRun.module.css';
import { notNumber } from './parameters';

interface ParameterFieldsProps {
  parameters: { name: string; value: string; fallback: string }[];
  onChange: (name: string, value: string) => void;
}

/** One field for each parameter, filled with its default. */
export function ParameterFields({ parameters, onChange }: ParameterFieldsProps) {
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
        <ParameterField key={parameter.name} {...parameter} onChange={(value) => onChange(parameter.name, value)} />
      ))}
    </div>
  );
}

interface ParameterFieldProps {
  name: string;
  value: string;
  fallback: string;
  onChange: (value: string) => void;
}

function ParameterField({ name, value, fallback, onChange }: ParameterFieldProps) {
  const { t } = useTranslation();
  const changed = value !== fallback;
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
        description={notNumber(value, fallback) ? t('newRun.notNumber') : undefined}
        descriptionProps={{ c: 'var(--ar-warn)' }}
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
            size="compact-xs"
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
