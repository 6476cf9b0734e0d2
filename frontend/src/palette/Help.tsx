import { Kbd, Modal, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { usePages } from './pages';

/** The keys that work everywhere. */
export default function Help({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const pages = usePages();
  const rows: [string[], string][] = [
    [['Ctrl', 'K'], t('palette.title')],
    [['/'], t('palette.toSearch')],
    [['?'], t('palette.help')],
    ...pages.flatMap(({ key, label }): [string[], string][] => (key ? [[['g', key], label]] : [])),
  ];
  return (
    <Modal opened onClose={onClose} title={t('palette.help')} closeButtonProps={{ 'aria-label': t('action.close') }}>
      <Table>
        <Table.Tbody>
          {rows.map(([keys, what]) => (
            <Table.Tr key={keys.join()}>
              <Table.Td w={120}>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
