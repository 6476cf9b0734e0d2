import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Copyable } from '../feedback/Copyable';

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
