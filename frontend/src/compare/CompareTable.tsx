import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import type { Comparison } from '../api/compare';
import classes from './Compare.module.css';
import type { CompareSearch } from './compareSearch';
import { RunHead } from './RunHead';
import { type Fact, type FactGroup, useFacts } from './useFacts';

interface CompareTableProps {
  comparison: Comparison;
  search: CompareSearch;
  base: string;
  onChange: (patch: CompareSearch) => void;
}

/** Runs beside or below each other; metrics with the best marked and the distance from the baseline, and parameters. */
export function CompareTable(props: CompareTableProps) {
  const { t } = useTranslation();
  const { first, groups } = useFacts(props);
  const { comparison, base, search, onChange } = props;
  const Layout = search.rows === 'runs' ? RunsAsRows : RunsAsColumns;
  return (
    <section className={`panel ${classes.scroll}`} tabIndex={0} aria-label={t('compare.table')}>
      <Layout
        runs={comparison.runs}
        base={base}
        first={first}
        groups={groups}
        onBase={(id) => onChange({ base: id })}
      />
    </section>
  );
}

interface LayoutProps {
  runs: Run[];
  base: string;
  first: Fact[];
  groups: FactGroup[];
  onBase: (id: string) => void;
}

function RunsAsColumns({ runs, base, first, groups, onBase }: LayoutProps) {
  const { t } = useTranslation();
  const row = ({ key, head, cell }: Fact) => (
    <tr key={key}>
      <th scope="row">{head}</th>
      {runs.map((run) => (
        <td key={run.id} data-base={run.id === base || undefined}>
          {cell(run)}
        </td>
      ))}
    </tr>
  );
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t('field.name')}</th>
          {runs.map((run, i) => (
            <th key={run.id} scope="col">
              <RunHead run={run} number={i + 1} base={run.id === base} onBase={() => onBase(run.id)} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {first.map(row)}
        {groups.flatMap(({ title, facts, empty }) => [
          <tr key={title} className={classes.group}>
            <th scope="rowgroup">{title}</th>
            <td colSpan={runs.length}>{facts.length === 0 && empty}</td>
          </tr>,
          ...facts.map(row),
        ])}
      </tbody>
    </table>
  );
}

function RunsAsRows({ runs, base, first, groups, onBase }: LayoutProps) {
  const { t } = useTranslation();
  const facts = [...first, ...groups.flatMap((group) => group.facts)];
  const said = groups.filter((group) => group.facts.length > 0);
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t('field.run')}</th>
          {first.map(({ key, head }) => (
            <th key={key} scope="col">
              {head}
            </th>
          ))}
          {said.flatMap(({ title, facts: own }) =>
            own.map(({ key, head }, i) => (
              <th key={key} scope="col">
                {i === 0 && <div className={classes.group}>{title}</div>}
                {head}
              </th>
            )),
          )}
        </tr>
      </thead>
      <tbody>
        {runs.map((run, i) => (
          <tr key={run.id}>
            <th scope="row">
              <RunHead run={run} number={i + 1} base={run.id === base} onBase={() => onBase(run.id)} />
            </th>
            {facts.map(({ key, cell }) => (
              <td key={key} data-base={run.id === base || undefined}>
                {cell(run)}
              </td>
            ))}
          </tr>
        ))}
        {groups
          .filter((group) => group.facts.length === 0)
          .map(({ title, empty }) => (
            <tr key={title} className={classes.group}>
              <th scope="row">{title}</th>
              <td colSpan={facts.length}>{empty}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}
