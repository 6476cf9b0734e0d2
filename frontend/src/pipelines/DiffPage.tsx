import { Code, Table, Text, Title } from '@mantine/core';
import { IconGitCompare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { diffQuery, pipelineOf, pipelineQuery, versionQuery, versionsQuery } from '../api/pipelines';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { PipelineField } from '../newrun/PipelineField';
import classes from './Diff.module.css';

const route = getRouteApi('/diff');

/** What two versions do differently, of whatever pipelines they are. */
export function DiffPage() {
  const { t } = useTranslation();
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (patch: { from?: string; to?: string }) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  const { data: changes, error, refetch } = useQuery(diffQuery(from ?? '', to ?? ''));
  const what = t('diff.await');
  return (
    <Page title={t('pages.diff')} trail={<TextLink to="/pipelines">{t('pages.pipelines')}</TextLink>}>
      <div className={classes.sides}>
        <Side title={t('diff.from')} versionID={from} onVersion={(id) => choose({ from: id })} />
        <Side title={t('diff.to')} versionID={to} onVersion={(id) => choose({ to: id })} />
      </div>
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {!(from && to) && (
        <Empty icon={<IconGitCompare aria-hidden />} title={t('diff.emptyTitle')} text={t('diff.emptyText')} />
      )}
      {from && to && !changes && !error && <Awaiting what={what} />}
      {changes?.length === 0 && (
        <Empty icon={<IconGitCompare aria-hidden />} title={t('diff.sameTitle')} text={t('diff.sameText')} />
      )}
      {changes && changes.length > 0 && (
        <section className={`panel ${classes.changes}`} tabIndex={0} aria-label={t('diff.changes')}>
          <Table verticalSpacing={8}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('field.step')}</Table.Th>
                <Table.Th scope="col">{t('diff.what')}</Table.Th>
                <Table.Th scope="col">{t('diff.from')}</Table.Th>
                <Table.Th scope="col">{t('diff.to')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changes.map((change) => (
                <Table.Tr key={`${change.step} ${change.path}`}>
                  <Table.Td>{change.step || t('diff.whole')}</Table.Td>
                  <Table.Td className="mono">{change.path}</Table.Td>
                  <Table.Td>
                    <Value text={change.from} none={t('diff.added')} />
                  </Table.Td>
                  <Table.Td>
                    <Value text={change.to} none={t('diff.removed')} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </Page>
  );
}

function Value({ text, none }: { text: string | undefined; none: string }) {
  if (text === undefined) {
    return (
      <Text size="sm" c="dimmed" fs="italic">
        {none}
      </Text>
    );
  }
  return (
    <Code block className="break" style={{ whiteSpace: 'pre-wrap' }}>
      {readable(text)}
    </Code>
  );
}

/** JSON as people read it: texts without quotes, so that their lines are lines. */
function readable(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  } catch {
    return json;
  }
}

interface SideProps {
  title: string;
  versionID: string | undefined;
  onVersion: (id: string | undefined) => void;
}

function Side({ title, versionID, onVersion }: SideProps) {
  const version = useQuery({ ...versionQuery(versionID ?? ''), enabled: Boolean(versionID) });
  const [chosen, setChosen] = useState<string>();
  const pipelineID = chosen ?? pipelineOf(version.data);
  const pipeline = useQuery({ ...pipelineQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const versions = useQuery({ ...versionsQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const items = versions.data?.items ?? [];
  const known = items.some(({ id }) => id === versionID);
  const first = items[0]?.id;
  // The field shows the first version of a pipeline that was just chosen; the URL has to say the same.
  const missing = chosen && first && !known ? first : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the version that is missing is news
  useEffect(() => {
    if (missing) onVersion(missing);
  }, [missing]);
  return (
    <section className={`panel ${classes.side}`} aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <PipelineField
        pipeline={pipeline.data}
        versions={items}
        versionID={versionID}
        defaultVersionID={pipeline.data?.default_version?.id}
        error={undefined}
        onPipeline={(id) => {
          setChosen(id);
          onVersion(undefined);
        }}
        onVersion={onVersion}
      />
    </section>
  );
}
