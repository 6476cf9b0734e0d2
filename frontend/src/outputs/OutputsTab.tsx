import { ActionIcon, Badge, Table, Text, Title, UnstyledButton } from '@mantine/core';
import { IconDownload, IconPackage } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { artifactURL, nodeVisualsQuery, visualsQuery } from '../api/outputs';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { formatBytes } from '../format/format';
import { stepLabels } from '../graph/model';
import { useTerm } from '../i18n/useTerm';
import { useInView } from '../metrics/useInView';
import type { RunSearch, ShowPatch } from '../runs/runSearch';
import { isFinal } from '../status/status';
import { ArtifactPreview } from './ArtifactPreview';
import classes from './Outputs.module.css';
import { VisualView } from './VisualView';

interface OutputsTabProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
}

interface Kept {
  id: string;
  node: RunNode;
  name: string;
  key: string;
  /** In bytes, as stored. */
  size: number | undefined;
}

/** What the steps left: what is meant to be looked at, and every file. */
export function OutputsTab({ run, search, onShow }: OutputsTabProps) {
  const { t } = useTranslation();
  const nodes = (run.nodes ?? []) as RunNode[];
  const labels = useMemo(() => stepLabels((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const nameOf = (id: string) => labels.get(id) ?? id;
  const { data: visuals, error, refetch } = useQuery(visualsQuery(run));
  const kept: Kept[] = nodes.flatMap((node) =>
    (node.artifacts ?? []).map(({ name = '', key = '', size }) => ({
      id: `${node.id}/${name}`,
      node,
      name,
      key,
      size: size === undefined ? undefined : Number(size),
    })),
  );
  const chosen = kept.find(({ id }) => id === search.artifact);
  const what = t('await.visuals');
  if (visuals?.length === 0 && kept.length === 0) {
    return (
      <Empty
        icon={<IconPackage aria-hidden />}
        title={t(isFinal(run.status) ? 'outputs.none' : 'outputs.noneYet')}
        text={t('outputs.teach')}
      />
    );
  }
  const reporting = [...new Set((visuals ?? []).map((visual) => visual.node_id ?? ''))];
  return (
    <div className={classes.tab}>
      {error ? (
        <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />
      ) : !visuals ? (
        <Awaiting what={what} />
      ) : (
        reporting.map((id) => (
          <StepVisuals
            key={id}
            run={run}
            nodeID={id}
            step={nameOf(id)}
            count={visuals.filter((visual) => visual.node_id === id).length}
          />
        ))
      )}
      {kept.length > 0 && (
        <div className={classes.files} data-open={chosen ? true : undefined}>
          <ArtifactTable
            run={run}
            kept={kept}
            chosen={chosen?.id}
            nameOf={nameOf}
            onChoose={(artifact) => onShow({ artifact })}
          />
          {chosen && (
            <ArtifactPreview
              key={chosen.id}
              run={run}
              nodeID={chosen.node.id}
              name={chosen.name}
              step={nameOf(chosen.node.id)}
            />
          )}
        </div>
      )}
    </div>
  );
}

interface ArtifactTableProps {
  run: Run;
  kept: Kept[];
  chosen: string | undefined;
  nameOf: (nodeID: string) => string;
  onChoose: (id: string) => void;
}

function ArtifactTable({ run, kept, chosen, nameOf, onChoose }: ArtifactTableProps) {
  const { t, i18n } = useTranslation();
  return (
    <section className={`panel ${classes.list}`} aria-label={t('node.artifacts')} tabIndex={0}>
      <Table verticalSpacing={6} horizontalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('outputs.artifact')}</Table.Th>
            <Table.Th scope="col">{t('field.step')}</Table.Th>
            <Table.Th scope="col" ta="right">
              {t('outputs.size')}
            </Table.Th>
            <Table.Th scope="col">{t('action.download')}</Table.Th>
            <Table.Th scope="col">{t('node.key')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {kept.map(({ id, node, name, key, size }) => (
            <Table.Tr key={id} data-selected={id === chosen || undefined} className={classes.row}>
              <Table.Td>
                <UnstyledButton className={classes.open} aria-pressed={id === chosen} onClick={() => onChoose(id)}>
                  {name}
                </UnstyledButton>
              </Table.Td>
              <Table.Td>{nameOf(node.id)}</Table.Td>
              <Table.Td ta="right" className="whole">
                {size === undefined ? t('field.none') : formatBytes(size, i18n.language)}
              </Table.Td>
              <Table.Td>
                <ActionIcon
                  component="a"
                  href={artifactURL(run.id, node.id, name)}
                  download
                  variant="subtle"
                  aria-label={`${t('outputs.asStored')}: ${t('outputs.artifactOf', { name, step: nameOf(node.id) })}`}
                >
                  <IconDownload size={16} aria-hidden />
                </ActionIcon>
              </Table.Td>
              <Table.Td>
                <Text span size="xs" c="dimmed" className="mono" title={key}>
                  {key}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

interface StepVisualsProps {
  run: Run;
  nodeID: string;
  step: string;
  /** How many visuals there are. */
  count: number;
}

function StepVisuals({ run, nodeID, step, count }: StepVisualsProps) {
  const { t } = useTranslation();
  const typeOf = useTerm('visualType');
  const [ref, seen] = useInView<HTMLElement>();
  const { data, error, refetch } = useQuery({ ...nodeVisualsQuery(run, nodeID, count), enabled: seen });
  const what = t('outputs.reportOf', { step });
  return (
    <section ref={ref} className={classes.step} aria-label={what}>
      <Title order={2} size="h5">
        {what}
      </Title>
      {error ? (
        <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Awaiting what={what} rows={6} />
      ) : (
        <div className={classes.visuals}>
          {data.map((visual) => (
            <div key={visual.number ?? 0} className={`panel ${classes.visual}`} data-type={visual.type}>
              {visual.type && (
                <Badge size="sm" variant="default" radius="sm" className={classes.type}>
                  {typeOf(visual.type)}
                </Badge>
              )}
              <VisualView visual={visual} />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}
