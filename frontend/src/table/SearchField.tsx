import { TextInput, type TextInputProps } from '@mantine/core';
import { useTyped } from './useTyped';

interface SearchFieldProps extends Omit<TextInputProps, 'type' | 'value' | 'onChange'> {
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
}

/** A field that searches at each key what the page holds already. */
export function SearchField({ q, onSearch, ...rest }: SearchFieldProps) {
  const { text, setText, sent } = useTyped(q ?? '');
  return (
    <TextInput
      {...rest}
      type="search"
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value);
        sent(value);
        onSearch(value || undefined);
      }}
    />
  );
}
