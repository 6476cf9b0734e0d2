import { useElementSize } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatMetric } from '../format/format';
import classes from './Compare.module.css';
import { scale, ticks } from './scale';

// A narrower window gets a narrower picture, whose letters stay as large.
const narrowest = 280;

const size = { width: 640, height: 280, left: 88, right: 16, top: 12, bottom: 44 };

export interface Mark {
  at: number;
  text: string;
}

interface FrameProps {
  label: string;
  xLabel: string;
  yLabel: string;
  xs: number[];
  ys: number[];
  /** Words along the x axis instead of numbers, at 0, 1, 2 … */
  xWords?: string[];
  yWords?: string[];
  /** Where the axes are marked, and how, instead of at round numbers; for axes that are not linear. */
  xMarks?: Mark[];
  yMarks?: Mark[];
  /** What is drawn has links in it, which a picture hides from screen readers. */
  linked?: boolean;
  /** Draws what lies between the axes; bottom is the lower end of the y axis. */
  children: (x: (value: number) => number, y: (value: number) => number, bottom: number) => ReactNode;
}

/** Two axes with their ticks. */
export function Frame({ label, xLabel, yLabel, xs, ys, xWords, yWords, xMarks, yMarks, linked, children }: FrameProps) {
  const { i18n } = useTranslation();
  const { ref, width: room } = useElementSize();
  const width = room > 0 ? Math.min(size.width, Math.max(narrowest, Math.round(room))) : size.width;
  const x = scale(xs, size.left, width - size.right);
  const y = scale(ys, size.height - size.bottom, size.top);
  const marks = ({ low, high }: { low: number; high: number }, words: string[] | undefined): Mark[] =>
    words
      ? words.map((word, at) => ({ at, text: word }))
      : ticks(low, high).map((at) => ({ at, text: formatMetric(at, 'RAW', i18n.language) }));
  return (
    <div ref={ref}>
      <svg
        viewBox={`0 0 ${width} ${size.height}`}
        role={linked ? 'group' : 'img'}
        aria-label={label}
        className={classes.frame}
      >
        {(yMarks ?? marks(y, yWords)).map(({ at, text }) => (
          <g key={at}>
            <line x1={size.left} x2={width - size.right} y1={y.at(at)} y2={y.at(at)} className={classes.grid} />
            <text x={size.left - 8} y={y.at(at)} dy="0.32em" textAnchor="end">
              {shortened(text)}
            </text>
          </g>
        ))}
        {(xMarks ?? marks(x, xWords)).map(({ at, text }) => (
          <text key={at} x={x.at(at)} y={size.height - size.bottom + 16} textAnchor="middle">
            {shortened(text)}
          </text>
        ))}
        <text x={(size.left + width - size.right) / 2} y={size.height - 6} textAnchor="middle">
          {xLabel}
        </text>
        <text transform={`translate(12 ${(size.height - size.bottom) / 2}) rotate(-90)`} textAnchor="middle">
          {yLabel}
        </text>
        {children(x.at, y.at, size.height - size.bottom)}
      </svg>
    </div>
  );
}

const longest = 12;

const shortened = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
