import { type ReactElement, type Ref, useImperativeHandle, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { VList, type VListHandle } from 'virtua';
import classes from './LogView.module.css';
import type { Held } from './lines';
import type { Scroller } from './useFollow';

interface LogColumnsProps {
  log: Held;
  /** The places of the lines that are shown; undefined when all are. */
  shown: number[] | undefined;
  /** The name of a log by its place. */
  name: (which: number) => string;
  /** Draws a line by its place among all. */
  children: (index: number) => ReactElement;
  onScroll: (offset: number) => void;
  ref?: Ref<Scroller>;
}

/** Several logs beside each other, each with its own lines in a list of its own; one without lines has none. */
export function LogColumns({ log: { logs = [], of = [] }, shown, name, children, onScroll, ref }: LogColumnsProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => {
    const each = logs.map((): number[] => []);
    const add = (index: number) => void each[of[index] ?? -1]?.push(index);
    if (shown) shown.forEach(add);
    else of.forEach((_, index) => void add(index));
    return each;
  }, [logs, of, shown]);
  const lists = useRef<(VListHandle | null)[]>([]);
  const scrolled = useRef(0);

  useImperativeHandle(
    ref,
    () => ({
      get viewportSize() {
        return lists.current[scrolled.current]?.viewportSize ?? 0;
      },
      get scrollSize() {
        return lists.current[scrolled.current]?.scrollSize ?? 0;
      },
      scrollToIndex: (index, how) => {
        // The start and the end are those of all; another line is in one of them.
        const all = index === 0 || how?.align === 'end';
        rows.forEach((own, which) => {
          const at = index === 0 ? 0 : all ? own.length - 1 : own.indexOf(shown?.[index] ?? index);
          if (at >= 0) lists.current[which]?.scrollToIndex(at, how);
        });
      },
    }),
    [rows, shown],
  );

  return (
    <div className={classes.columns}>
      {rows.map(
        (own, which) =>
          own.length > 0 && (
            <div key={name(which)} className={classes.column}>
              <div className={classes.heading}>{name(which)}</div>
              <div className={classes.body}>
                <VList
                  ref={(list) => {
                    lists.current[which] = list;
                  }}
                  data={own}
                  itemSize={20}
                  className={classes.scroller}
                  role="region"
                  aria-label={t('log.label', { step: name(which) })}
                  tabIndex={0}
                  onScroll={(offset) => {
                    scrolled.current = which;
                    onScroll(offset);
                  }}
                >
                  {children}
                </VList>
              </div>
            </div>
          ),
      )}
    </div>
  );
}
