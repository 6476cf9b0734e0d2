import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Choice.module.css';

interface Row {
  id: string;
  name: string;
}

interface Chosen {
  /** Those on the page. */
  rows: Row[];
  chosen: string[];
  onChoose: (ids: string[]) => void;
}

// By context, so that the columns stay the same when the choice changes: new ones would take the focus from the box.
const ChosenRows = createContext<Chosen>({ rows: [], chosen: [], onChoose: () => {} });

/** Gives the boxes of a table the rows that are chosen. */
export const Choice = ChosenRows.Provider;

/** Chooses all runs of the page, or none. */
export function ChooseAll() {
  const { t } = useTranslation();
  const { rows, chosen, onChoose } = useContext(ChosenRows);
  const here = rows.map(({ id }) => id);
  const count = here.filter((id) => chosen.includes(id)).length;
  const all = count > 0 && count === here.length;
  return (
    <input
      type="checkbox"
      className={classes.box}
      aria-label={t('runs.chooseAll')}
      checked={all}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && !all;
      }}
      onChange={() => onChoose(all ? chosen.filter((id) => !here.includes(id)) : [...new Set([...chosen, ...here])])}
    />
  );
}

export function ChooseOne({ row: { id, name } }: { row: Row }) {
  const { t } = useTranslation();
  const { chosen, onChoose } = useContext(ChosenRows);
  const on = chosen.includes(id);
  return (
    <input
      type="checkbox"
      className={classes.box}
      aria-label={t('runs.chooseOne', { name })}
      checked={on}
      onChange={() => onChoose(on ? chosen.filter((other) => other !== id) : [...chosen, id])}
    />
  );
}
