import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import classes from './Choice.module.css';

interface Chosen {
  /** Those on the page. */
  runs: Run[];
  chosen: string[];
  onChoose: (ids: string[]) => void;
}

// By context, so that the columns stay the same when the choice changes: new ones would take the focus from the box.
const ChosenRuns = createContext<Chosen>({ runs: [], chosen: [], onChoose: () => {} });

/** Gives the boxes of a table the runs that are chosen. */
export const Choice = ChosenRuns.Provider;

/** Chooses all runs of the page, or none. */
export function ChooseAll() {
  const { t } = useTranslation();
  const { runs, chosen, onChoose } = useContext(ChosenRuns);
  const here = runs.map(({ id }) => id);
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

export function ChooseOne({ run: { id, name } }: { run: Run }) {
  const { t } = useTranslation();
  const { chosen, onChoose } = useContext(ChosenRuns);
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
