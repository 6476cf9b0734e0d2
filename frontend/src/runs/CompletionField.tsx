import { TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useId, useState } from 'react';
import classes from './CompletionField.module.css';

interface Completion {
  /** What the field holds once it is picked. */
  value: string;
  /** What the list shows. */
  label: string;
}

interface CompletionFieldProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string;
  completions: Completion[];
  onChange: (value: string) => void;
  /** Enter was pressed while no completion was chosen. */
  onEnter: () => void;
}

/** A field with a list of what its words may become. */
export function CompletionField({ value, completions, onChange, onEnter, onFocus, ...rest }: CompletionFieldProps) {
  const listID = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const shown = open && completions.length > 0;
  const type = (text: string) => {
    setAt(-1);
    setOpen(true);
    onChange(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setOpen(true);
      const next = at < 0 && by < 0 ? completions.length - 1 : at + by;
      setAt((next + completions.length) % Math.max(1, completions.length));
    }
    if (event.key === 'Escape' && shown) {
      event.preventDefault();
      setOpen(false);
      setAt(-1);
    }
    if (event.key !== 'Enter') return;
    const picked = shown ? completions[at] : undefined;
    if (picked) type(picked.value);
    else onEnter();
  };
  return (
    <div className={classes.frame}>
      <TextInput
        {...rest}
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls={shown ? listID : undefined}
        aria-activedescendant={shown && at >= 0 ? `${listID}-${at}` : undefined}
        value={value}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onClick={() => setOpen(true)}
        onFocus={(event) => {
          setOpen(true);
          onFocus?.(event);
        }}
        onBlur={() => {
          setOpen(false);
          setAt(-1);
        }}
      />
      {shown && (
        <div role="listbox" id={listID} aria-label={rest['aria-label']} className={classes.list}>
          {completions.map((completion, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, as in every combobox
            <div
              key={completion.value}
              id={`${listID}-${i}`}
              ref={(option) => void (i === at && option?.scrollIntoView?.({ block: 'nearest' }))}
              role="option"
              aria-selected={i === at}
              tabIndex={-1}
              className={classes.option}
              // The focus stays in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => type(completion.value)}
            >
              {completion.label}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
