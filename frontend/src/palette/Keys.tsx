import { Kbd, Modal, Table } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Palette } from './Palette';
import { usePages } from './pages';

// How long a g waits for the letter of a page.
const pairMs = 1_500;

/** Listens to the keys that work everywhere: the palette, the help, the search, and the pages. */
export function Keys() {
  const navigate = useNavigate();
  const pages = usePages();
  const [shown, setShown] = useState<'palette' | 'help'>();
  const began = useRef(0);

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        setShown('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') setShown('help');
      else if (event.key === '/') focusSearch(event);
      else if (event.key === 'g') began.current = event.timeStamp;
      else if (event.timeStamp - began.current < pairMs) {
        began.current = 0;
        const page = pages.find(({ key }) => key === event.key);
        if (page) void navigate({ to: page.to });
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, pages]);

  const close = () => setShown(undefined);
  return (
    <>
      {shown === 'palette' && <Palette onClose={close} />}
      {shown === 'help' && <Help onClose={close} />}
    </>
  );
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, [role="dialog"]') !== null);

function focusSearch(event: globalThis.KeyboardEvent) {
  const search = document.querySelector<HTMLElement>('main input[type="search"]');
  if (!search) return;
  event.preventDefault();
  search.focus();
}

function Help({ onClose }: { onClose: () => void }) {
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
