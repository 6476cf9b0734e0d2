import { Button, Code, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** A command in full, and a button that copies it. */
export function Copyable({ text }: { text: string }) {
  const { t } = useTranslation();
  return (
    <Group align="flex-start" gap="xs" wrap="nowrap">
      <Code block tabIndex={0} className="break" style={{ flex: 1, minWidth: 0, whiteSpace: 'pre-wrap' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            size="xs"
            variant="default"
            leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            onClick={copy}
          >
            {copied ? t('action.copied') : t('action.copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
