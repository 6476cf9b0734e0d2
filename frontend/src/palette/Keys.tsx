import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { withTexts } from '../i18n';
import { usePages } from './pages';

const Palette = lazy(withTexts(() => import('./Palette')));
const Help = lazy(withTexts(() => import('./Help')));
const UploadDialog = lazy(
  withTexts(async () => ({ default: (await import('../pipelines/UploadDialog')).UploadDialog })),
);

// How long a g waits for the letter of a page.
const pairMs = 1_500;

/** Listens to the keys that work everywhere: the palette, the help, the search, and the pages. */
export function Keys() {
  const navigate = useNavigate();
  const pages = usePages();
  const [shown, setShown] = useState<'palette' | 'help' | 'upload'>();
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
    <Suspense>
      {shown === 'palette' && <Palette onClose={close} onUpload={() => setShown('upload')} />}
      {shown === 'help' && <Help onClose={close} />}
      {shown === 'upload' && <UploadDialog onClose={close} />}
    </Suspense>
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
