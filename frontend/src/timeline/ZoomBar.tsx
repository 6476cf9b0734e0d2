import { ActionIcon, Button, Group } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconZoomIn, IconZoomOut } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { moved, type Range, zoomed } from './view';

interface Zoom {
  view: Range;
  /** Of the run, in seconds. */
  length: number;
  onView: (range: Range | undefined) => void;
}

const step = 0.5;

const acts = {
  in: ({ view, length, onView }: Zoom) => onView(zoomed(view, length, step)),
  out: ({ view, length, onView }: Zoom) => onView(zoomed(view, length, 1 / step)),
  earlier: ({ view, length, onView }: Zoom) => onView(moved(view, length, -step)),
  later: ({ view, length, onView }: Zoom) => onView(moved(view, length, step)),
  whole: ({ onView }: Zoom) => onView(undefined),
};

const keys: Record<string, keyof typeof acts> = {
  '+': 'in',
  '=': 'in',
  '-': 'out',
  '0': 'whole',
  ArrowLeft: 'earlier',
  ArrowRight: 'later',
};

/** Zooms by the keys +, -, 0 and the arrows to the sides. */
export function onZoomKey(event: KeyboardEvent, zoom: Zoom) {
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  acts[act](zoom);
}

const buttons = [
  { act: 'in', text: 'timeline.in', icon: IconZoomIn },
  { act: 'out', text: 'timeline.out', icon: IconZoomOut },
  { act: 'earlier', text: 'timeline.earlierPart', icon: IconChevronLeft },
  { act: 'later', text: 'timeline.laterPart', icon: IconChevronRight },
] as const;

/** The buttons that zoom a timeline. */
export function ZoomBar(zoom: Zoom) {
  const { t } = useTranslation();
  const whole = zoom.view[0] === 0 && zoom.view[1] === zoom.length;
  return (
    <Group gap={4} role="group" aria-label={t('timeline.zoom')}>
      {buttons.map(({ act, text, icon: Icon }) => (
        <ActionIcon
          key={act}
          size="md"
          variant="default"
          aria-label={t(text)}
          title={t(text)}
          // Not disabled: the focus would be lost at the end of the way.
          aria-disabled={whole && act !== 'in'}
          onClick={() => acts[act](zoom)}
        >
          <Icon size={16} aria-hidden />
        </ActionIcon>
      ))}
      <Button
        size="compact-sm"
        variant="default"
        // It keeps its place: the bars must not jump under the pointer that zooms.
        style={{ visibility: whole ? 'hidden' : undefined }}
        onClick={() => acts.whole(zoom)}
      >
        {t('metrics.whole')}
      </Button>
    </Group>
  );
}
