import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { everyGroup, type Folded } from './fold';
import type { GraphPatch, GraphSearch } from './graphSearch';
import type { Grouped } from './groups';
import classes from './StepGraph.module.css';
import { StepSearch } from './StepSearch';

interface GraphFilterProps {
  graph: Grouped;
  folded: Folded;
  /** Nothing is found. */
  none: boolean;
  search: GraphSearch;
  onShow: GraphPatch;
  /** Opens or closes groups. */
  onTurn: (ids: string[], open: boolean) => void;
}

/** What is looked for in a graph, and what it leaves out. */
export function GraphFilter({ graph, folded, none, search, onShow, onTurn }: GraphFilterProps) {
  const { t } = useTranslation();
  const some = graph.steps.some((step) => step.phase === 'Succeeded');
  const turnAll = (open: boolean) =>
    onShow({ opened: open ? [everyGroup] : undefined, closed: open ? undefined : [everyGroup] });
  return (
    <Group gap="md" px="md" py={8} className={classes.filter}>
      <StepSearch q={search.q} onSearch={(q) => onShow({ q })} />
      {(some || search.hide) && (
        <Checkbox
          size="xs"
          label={t('graph.hideSucceeded')}
          checked={search.hide === 'succeeded'}
          onChange={(event) => onShow({ hide: event.currentTarget.checked ? 'succeeded' : undefined })}
        />
      )}
      {graph.groups.size > 0 && (
        <Button.Group>
          <Button size="compact-xs" variant="default" onClick={() => turnAll(true)}>
            {t('graph.openAll')}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => turnAll(false)}>
            {t('graph.closeAll')}
          </Button>
        </Button.Group>
      )}
      <Text size="xs" c="dimmed" role="status">
        {none && t('graph.noneFound')}
        {folded.hiding.steps > 0 && t('graph.inGroups', { count: folded.hiding.steps })}
      </Text>
      {folded.hiding.steps > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => onTurn(folded.hiding.groups, true)}>
          {t('graph.openFound')}
        </Button>
      )}
    </Group>
  );
}
