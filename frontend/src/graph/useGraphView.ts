import { useReactFlow, useStore } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { nodeHeight, nodeWidth, type Placed } from './layout';
import type { Steps } from './model';
import { neighbour, type Way } from './neighbour';

export const zooms = { min: 0.1, readable: 0.65, max: 1.1 };
const margin = 28;

// A step that is out of view is drawn some frames after the view has moved to it.
const patience = 30;

/** Arrow keys lead the focus along the edges, and to the sides. */
export function useArrows(graph: Steps, places: Map<string, Placed>) {
  const flow = useReactFlow();
  const frame = useRef<HTMLElement>(null);
  const current = useRef({ graph, places });
  current.current = { graph, places };

  const onGo = useCallback(
    (from: string, way: Way) => {
      const to = neighbour(current.current.graph, current.current.places, from, way);
      const place = to === undefined ? undefined : current.current.places.get(to);
      if (to === undefined || !place) return;
      void flow.setCenter(place.x + nodeWidth / 2, place.y + nodeHeight / 2, { zoom: flow.getZoom() });
      focusOn(frame, to);
    },
    [flow],
  );
  return { frame, onGo };
}

const buttonOf = (frame: RefObject<HTMLElement | null>, id: string) =>
  frame.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] button`);

function focusOn(frame: RefObject<HTMLElement | null>, id: string, frames = patience) {
  const button = buttonOf(frame, id);
  if (button) button.focus();
  else if (frames > 0) requestAnimationFrame(() => focusOn(frame, id, frames - 1));
}

/** Keeps the focus on a card while the graph is drawn anew, which may replace the card; not when the reader goes elsewhere. */
function holdFocus(frame: RefObject<HTMLElement | null>, id: string, frames = 2 * patience) {
  const active = document.activeElement;
  const button = buttonOf(frame, id);
  if (active && active !== document.body && active !== button) return;
  if (frame.current && button && active !== button) {
    // The view is where it belongs; a card that takes the focus must not move it.
    frame.current.dataset.held = 'true';
    button.focus({ preventScroll: true });
    delete frame.current.dataset.held;
  }
  if (frames > 0) requestAnimationFrame(() => holdFocus(frame, id, frames - 1));
}

/** The group that was just opened or closed, and where its card stands in the frame. */
export interface Anchor extends Placed {
  zoom: number;
}

/** Opens or closes a group, whose card stays where the reader pressed it. */
export function useToggle(
  places: Map<string, Placed>,
  anchor: RefObject<Anchor | undefined>,
  onToggle: ((id: string) => void) | undefined,
) {
  const flow = useReactFlow();
  const current = useRef({ places, onToggle });
  current.current = { places, onToggle };
  return useCallback(
    (id: string) => {
      const place = current.current.places.get(id);
      const { x, y, zoom } = flow.getViewport();
      if (place) anchor.current = { id, x: x + place.x * zoom, y: y + place.y * zoom, zoom };
      current.current.onToggle?.(id);
    },
    [flow, anchor],
  );
}

/**
 * Places the view when the graph grows or its frame changes: all of it from its top, or, where that could not be read
 * any more, the part around the chosen step. Where a group was opened or closed, its card stays in its place. Gives the
 * way to see all of it in any case.
 */
export function useGraphView(
  places: Map<string, Placed>,
  selected: string | undefined,
  anchor: RefObject<Anchor | undefined>,
  frame: RefObject<HTMLElement | null>,
) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);

  const view = useCallback(
    (smallest: number) => {
      if (width === 0 || places.size === 0) return;
      const bounds = boundsOf(places);
      const fitting = Math.min((width - 2 * margin) / bounds.width, (height - 2 * margin) / bounds.height);
      const zoom = Math.max(smallest, Math.min(zooms.max, fitting));
      const chosen = selected && zoom > fitting ? places.get(selected) : undefined;
      const middle = bounds.x + bounds.width / 2;
      // Not farther to a side than there is something to see.
      const room = Math.max(0, bounds.width / 2 + (margin - width / 2) / zoom);
      const wish = chosen ? chosen.x + nodeWidth / 2 : middle;
      const x = Math.max(middle - room, Math.min(middle + room, wish));
      const below = chosen ? (chosen.y + nodeHeight / 2) * zoom - height / 2 : Number.NEGATIVE_INFINITY;
      const top = Math.max(bounds.y * zoom - margin, below);
      void flow.setViewport({ x: width / 2 - x * zoom, y: -top, zoom });
    },
    [flow, width, height, places, selected],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: choosing another step must not move the view
  useEffect(() => {
    if (width === 0) return;
    const held = anchor.current;
    const place = held && places.get(held.id);
    anchor.current = undefined;
    if (!place) return view(zooms.readable);
    const { id, x, y, zoom } = held;
    void flow.setViewport({ x: x - place.x * zoom, y: y - place.y * zoom, zoom });
    holdFocus(frame, id);
  }, [flow, width, height, places]);
  return () => view(zooms.min);
}

export function boundsOf(places: Map<string, Placed>) {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [top, bottom] = [left, right];
  for (const { x, y } of places.values()) {
    left = Math.min(left, x);
    right = Math.max(right, x + nodeWidth);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + nodeHeight);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}
