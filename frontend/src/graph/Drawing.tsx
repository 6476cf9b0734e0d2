import { useComputedColorScheme } from '@mantine/core';
import { Panel, useReactFlow, useStoreApi } from '@xyflow/react';
import { type PointerEvent, type RefObject, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Found, isFound } from './find';
import { nodeHeight, nodeWidth, type Placed } from './layout';
import type { Step } from './model';
import { type Piece, type Row, rowHeight } from './rows';
import classes from './StepGraph.module.css';
import { tones } from './tones';
import { boundsOf } from './useGraphView';

interface Painted {
  rows: Row[];
  byID: Map<string, Step>;
  selected: string | undefined;
  /** The other steps are faint. */
  found: Found;
}

interface View {
  x: number;
  y: number;
  zoom: number;
  width: number;
  height: number;
}

/** The edges in view, and below a zoom the steps as boxes. The steps table has the same for readers who see no picture. */
export function Drawing({ rows, byID, selected, found, boxesBelow }: Painted & { boxesBelow: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  usePainter(canvas, (context, view, color) => {
    const { x, y, zoom, width, height } = view;
    context.translate(x, y);
    context.scale(zoom, zoom);
    const left = -x / zoom;
    const right = left + width / zoom;
    const shown = rows.slice(
      Math.max(0, Math.floor(-y / zoom / rowHeight) - 1),
      Math.max(0, Math.ceil((height - y) / zoom / rowHeight)),
    );
    context.strokeStyle = color('--ar-line-strong');
    context.lineWidth = Math.max(1.6, 0.7 / zoom);
    context.beginPath();
    for (const { pieces } of shown) {
      for (const piece of pieces) {
        if (Math.max(piece.x0, piece.x1) >= left && Math.min(piece.x0, piece.x1) <= right) trace(context, piece);
      }
    }
    context.stroke();
    if (zoom < boxesBelow) {
      paintBoxes(
        context,
        shown.flatMap(({ steps }) => steps.filter((step) => step.x + nodeWidth > left && step.x < right)),
        { byID, selected, found },
        color,
      );
    }
  });
  return <canvas ref={canvas} aria-hidden className={classes.drawing} />;
}

function trace(context: CanvasRenderingContext2D, { x0, y0, x1, y1, bus }: Piece) {
  const middle = (y0 + y1) / 2;
  context.moveTo(x0, y0);
  if (x0 === x1) context.lineTo(x1, y1);
  else if (bus === undefined) context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  else {
    const radius = Math.min(10, Math.abs(x1 - x0) / 2, bus - y0, y1 - bus);
    context.arcTo(x0, bus, x1, bus, radius);
    context.arcTo(x1, bus, x1, y1, radius);
    context.lineTo(x1, y1);
  }
}

function paintBoxes(
  context: CanvasRenderingContext2D,
  steps: Placed[],
  { byID, selected, found }: Omit<Painted, 'rows'>,
  color: (name: string) => string,
) {
  for (const { id, x, y } of steps) {
    const step = byID.get(id);
    context.globalAlpha = step && isFound(step, found) ? 1 : 0.2;
    context.fillStyle = color(tones[step?.phase ?? ''] ?? '--ar-line-strong');
    context.fillRect(x, y, nodeWidth, nodeHeight);
  }
  context.globalAlpha = 1;
  const chosen = steps.find(({ id }) => id === selected);
  if (!chosen) return;
  context.strokeStyle = color('--mantine-primary-color-filled');
  context.lineWidth = 30;
  context.strokeRect(chosen.x - 15, chosen.y - 15, nodeWidth + 30, nodeHeight + 30);
}

const mapSize = { width: 200, height: 150 };

/** The whole graph in a corner. A press or a drag leads the view. */
export function GraphMap({ places, byID, selected, found }: Painted & { places: Map<string, Placed> }) {
  const { t } = useTranslation();
  const flow = useReactFlow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const bounds = boundsOf(places);
  const scale = Math.min(mapSize.width / (bounds.width * 1.1), mapSize.height / (bounds.height * 1.1));
  const at = {
    x: mapSize.width / 2 - (bounds.x + bounds.width / 2) * scale,
    y: mapSize.height / 2 - (bounds.y + bounds.height / 2) * scale,
  };
  usePainter(canvas, (context, { x, y, zoom, width, height }, color) => {
    context.translate(at.x, at.y);
    context.scale(scale, scale);
    paintBoxes(context, [...places.values()], { byID, selected, found }, color);
    context.strokeStyle = color('--ar-text');
    context.lineWidth = 1.5 / scale;
    context.strokeRect(-x / zoom, -y / zoom, width / zoom, height / zoom);
  });

  const lead = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.buttons === 0) return;
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.x - at.x) / scale;
    const y = (event.clientY - box.y - at.y) / scale;
    void flow.setCenter(x, y, { zoom: flow.getZoom() });
  };
  return (
    <Panel position="top-right" className={classes.map}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={t('graph.map')}
        className="nopan"
        style={mapSize}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          lead(event);
        }}
        onPointerMove={lead}
      />
    </Panel>
  );
}

type Paint = (context: CanvasRenderingContext2D, view: View, color: (name: string) => string) => void;

/** Paints a canvas anew when what is painted changes, and when the view moves: at most once in a frame, without a rendering. */
function usePainter(canvas: RefObject<HTMLCanvasElement | null>, paint: Paint) {
  const store = useStoreApi();
  // Another scheme has other colors.
  useComputedColorScheme();
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      frame = 0;
      const element = canvas.current;
      const context = element && clean(element);
      if (!context) return;
      const { transform, width, height } = store.getState();
      const [x, y, zoom] = transform;
      paint(context, { x, y, zoom, width, height }, colorsOf(element));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(draw);
    };
    soon();
    const stop = store.subscribe(soon);
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  });
}

/** An empty canvas with as many pixels as the screen has for it. */
function clean(element: HTMLCanvasElement) {
  const ratio = devicePixelRatio;
  const width = Math.round(element.clientWidth * ratio);
  const height = Math.round(element.clientHeight * ratio);
  if (element.width !== width) element.width = width;
  if (element.height !== height) element.height = height;
  const context = element.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

function colorsOf(element: HTMLElement) {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name: string) => {
    const found = known.get(name) ?? style.getPropertyValue(name);
    known.set(name, found);
    return found;
  };
}
