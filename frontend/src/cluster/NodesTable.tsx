import { Text } from '@mantine/core';
import { IconAlertTriangleFilled, IconCircleCheckFilled, IconPlayerPauseFilled } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ClusterNode, ResourceUse } from '../api/cluster';
import badge from '../status/StatusBadge.module.css';
import { type Column, DataTable } from '../table/DataTable';
import { formatAmount, shortName } from './amount';
import classes from './Cluster.module.css';
import { Holders } from './Holders';
import { UseBar } from './UseBar';

/** The nodes with what pods ask for of each resource, and who they belong to. */
export function NodesTable({ nodes, resources }: { nodes: ClusterNode[]; resources: ResourceUse[] }) {
  const { t } = useTranslation();
  const columns = useColumns(resources.map(({ resource }) => resource ?? ''));
  return (
    <DataTable
      caption={t('list.caption', { what: t('cluster.nodes'), count: nodes.length })}
      columns={columns}
      rows={nodes}
      rowID={(node) => node.name ?? ''}
    />
  );
}

function useColumns(resources: string[]): Column<ClusterNode>[] {
  const { t } = useTranslation();
  const names = resources.join(' ');
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('cluster.node'),
        cell: (node) => (
          <>
            <Text size="sm" fw={550} className="name">
              {node.name}
            </Text>
            <NodeState node={node} />
            {(node.taints ?? []).map((taint) => (
              <Text key={taint} size="xs" c="dimmed" className="break" title={t('cluster.taint')}>
                {taint}
              </Text>
            ))}
          </>
        ),
      },
      ...names.split(' ').map(
        (resource): Column<ClusterNode> => ({
          id: resource,
          header: resource === 'memory' || resource === 'pods' ? t(`cluster.${resource}`) : shortName(resource),
          cell: (node) => <Use use={node.resources?.find((one) => one.resource === resource)} />,
        }),
      ),
      {
        id: 'holders',
        header: t('cluster.heldBy'),
        cell: (row) => <Holders holders={row.holders} />,
      },
    ],
    [t, names],
  );
}

function Use({ use }: { use: ResourceUse | undefined }) {
  const { t, i18n } = useTranslation();
  if (!use) return t('field.none');
  const { resource = '', requested = 0, allocatable = 0, capacity = 0, free = 0 } = use;
  const text = (value: number) => formatAmount(resource, value, i18n.language);
  const values = { asked: text(requested), of: text(allocatable), free: text(free), has: text(capacity) };
  return <UseBar resource={resource} used={requested} of={allocatable} label={t('cluster.use', values)} />;
}

function NodeState({ node }: { node: ClusterNode }) {
  const { t } = useTranslation();
  const [tone, Icon, word] = !node.ready
    ? (['bad', IconAlertTriangleFilled, t('cluster.notReady')] as const)
    : node.schedulable
      ? (['ok', IconCircleCheckFilled, t('cluster.ready')] as const)
      : (['warn', IconPlayerPauseFilled, t('cluster.closed')] as const);
  return (
    <>
      <div className={classes.below}>
        <span className={badge.plain} data-tone={tone}>
          <Icon size={14} aria-hidden />
          {word}
        </span>
      </div>
      {node.message && (
        <Text size="xs" c="dimmed" className="break">
          {node.message}
        </Text>
      )}
    </>
  );
}
