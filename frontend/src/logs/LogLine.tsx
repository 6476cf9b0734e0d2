import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { AnsiUp } from 'ansi_up';
import { Fragment, type MouseEvent, memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Place } from '../api/logs';
import { seriesVariable } from '../metrics/look';
import classes from './LogView.module.css';
import { plain } from './lines';
import { cut, hashOf } from './search';

interface LogLineProps {
  text: string;
  /** Its number in its log. */
  number: number;
  /** Words to mark; empty for none. */
  words: string;
  /** The match that the reader is at. */
  current: boolean;
  /** The line that the URL points to. */
  linked: boolean;
  onLink: (place: Place) => void;
  /** The log that the line is of, among several, and its name. */
  log?: string;
  tag?: string;
  /** The place of that log among them, which gives its colour. */
  place?: number;
  /** The group of lines that it begins, and whether it is in one. */
  group?: LineGroup;
  inside?: boolean;
}

/** A group of lines that are shown as one while it is folded. */
export interface LineGroup {
  title: string;
  count: number;
  folded: boolean;
  onToggle: () => void;
}

/** One line of a log with its number, which links to it. */
export const LogLine = memo(function LogLine({
  text,
  number,
  words,
  current,
  linked,
  onLink,
  log,
  tag,
  place = 0,
  group,
  inside,
}: LogLineProps) {
  const { t } = useTranslation();
  const click = (event: MouseEvent) => {
    event.preventDefault();
    onLink({ log, line: number });
  };
  return (
    <div
      className={classes.line}
      data-current={current || undefined}
      data-linked={linked || undefined}
      data-inside={inside || undefined}
    >
      <a
        className={classes.number}
        href={`#${hashOf({ log, line: number })}`}
        aria-label={tag ? t('log.lineOf', { number, name: tag }) : t('log.line', { number })}
        tabIndex={-1}
        onClick={click}
      >
        {number}
      </a>
      {tag && (
        <span className={classes.tag} style={{ color: `var(${seriesVariable(place)})` }} title={tag}>
          {tag}
        </span>
      )}
      {group ? (
        <button type="button" className={classes.group} aria-expanded={!group.folded} onClick={group.onToggle}>
          {group.folded ? <IconChevronRight size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />}
          <LineText text={group.title || t('log.group')} words={words} />
          <span className={classes.count}>{t('log.lines', { count: group.count })}</span>
        </button>
      ) : (
        <LineText text={text} words={words} />
      )}
    </div>
  );
});

function LineText({ text, words }: { text: string; words: string }) {
  if (words) {
    const pieces = cut(plain(text), words);
    if (pieces.length > 1) {
      return (
        <span className={classes.content}>
          {pieces.map((piece, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and a line does not change
            <Fragment key={i}>{i % 2 === 1 ? <mark className={classes.mark}>{piece}</mark> : piece}</Fragment>
          ))}
        </span>
      );
    }
  }
  if (!text.includes('\u001b')) return <span className={classes.content}>{text || '\u200b'}</span>;
  return (
    <span
      className={classes.content}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: ansi_up escapes the text; it writes spans with colours only
      dangerouslySetInnerHTML={{ __html: coloured(text) }}
    />
  );
}

/** A line as HTML with its terminal colours; colours end with their line, so that lines can be drawn apart. */
export function coloured(text: string): string {
  const ansi = new AnsiUp();
  ansi.use_classes = true;
  // A log is not trusted: it may colour its text, but not link away.
  ansi.url_allowlist = {};
  return ansi.ansi_to_html(text);
}
