import { Button, Code, CopyButton, Group, Tabs } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** The same as the form does, for a terminal. */
export function AsCommand({ command, request }: { command: string; request: string }) {
  const { t } = useTranslation();
  return (
    <Tabs defaultValue="cli" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="cli">{t('newRun.asCommand')}</Tabs.Tab>
        <Tabs.Tab value="curl">curl</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="cli" pt="xs">
        <Copyable text={command} />
      </Tabs.Panel>
      <Tabs.Panel value="curl" pt="xs">
        <Copyable text={request} />
      </Tabs.Panel>
    </Tabs>
  );
}

function Copyable({ text }: { text: string }) {
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
