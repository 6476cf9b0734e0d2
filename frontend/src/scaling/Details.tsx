import { Table, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ScalingResult } from '../api/scaling';
import { TextLink } from '../app/links';
import { Copyable } from '../feedback/Copyable';
import { formatTime } from '../format/format';
import { figure } from './numbers';
import classes from './Scaling.module.css';
import { useReportSentence } from './sentence';

/** What else is to be known of a report: what differs, what does not count, the command, and every run. */
export function Details({ report, method }: { report: ScalingResult; method: string }) {
  const { t } = useTranslation();
  const say = useReportSentence();
  return (
    <>
      {(report.differences ?? []).length > 0 && (
        <Section title={t('scaling.differences')} text={t('scaling.differencesText')}>
          <Differences report={report} />
        </Section>
      )}
      {(report.failures ?? []).length > 0 && (
        <Section title={t('scaling.failures')}>
          <Failures report={report} />
        </Section>
      )}
      {report.command && (
        <Section title={t('scaling.again')}>
          <Copyable text={report.command} />
        </Section>
      )}
      <Section title={t('scaling.same')}>
        <Same report={report} />
      </Section>
      <Section title={t('scaling.raw')}>
        <Raw report={report} />
      </Section>
      <Section title={t('scaling.method')}>
        <Text size="sm">{say(method)}</Text>
      </Section>
    </>
  );
}

function Section({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <div>
        <Title order={2} size="h5">
          {title}
        </Title>
        {text && (
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        )}
      </div>
      {children}
    </section>
  );
}

/** A table that scrolls by itself. */
function Sheet({ label, head, children }: { label: string; head: string[]; children: ReactNode }) {
  return (
    <section className={classes.file} tabIndex={0} aria-label={label}>
      <Table verticalSpacing={4} horizontalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            {head.map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </section>
  );
}

function Differences({ report }: { report: ScalingResult }) {
  const { t } = useTranslation();
  const cells = [
    ...new Set((report.differences ?? []).flatMap((one) => one.cells?.map(({ cell }) => cell ?? '') ?? [])),
  ];
  return (
    <Sheet
      label={t('scaling.differencesOf')}
      head={[t('scaling.what'), ...cells.map((cell) => cell || t('scaling.all'))]}
    >
      {(report.differences ?? []).map(({ name, cells: values }) => {
        const of = (cell: string) => values?.find((one) => (one.cell ?? '') === cell)?.values?.join(', ') ?? '';
        const first = of(cells[0] ?? '');
        return (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            {cells.map((cell) => (
              <Table.Td key={cell} className="break">
                {of(cell) === first ? (
                  of(cell) || t('field.none')
                ) : (
                  <span className={classes.differs}>
                    <IconAlertTriangle size={13} role="img" aria-label={t('scaling.isOther')} />{' '}
                    {of(cell) || t('field.none')}
                  </span>
                )}
              </Table.Td>
            ))}
          </Table.Tr>
        );
      })}
    </Sheet>
  );
}

function Failures({ report }: { report: ScalingResult }) {
  const { t } = useTranslation();
  const say = useReportSentence();
  return (
    <Sheet label={t('scaling.failuresOf')} head={[t('field.name'), t('scaling.cell'), t('scaling.why')]}>
      {(report.failures ?? []).map(({ id, run, cell, why }) => (
        <Table.Tr key={`${id} ${run}`}>
          <Table.Th scope="row">
            <TextLink to="/runs/$runId" params={{ runId: id ?? '' }}>
              {run}
            </TextLink>
          </Table.Th>
          <Table.Td>{cell}</Table.Td>
          <Table.Td className="break">{say(why ?? '')}</Table.Td>
        </Table.Tr>
      ))}
    </Sheet>
  );
}

function Same({ report }: { report: ScalingResult }) {
  const { t } = useTranslation();
  const same = Object.entries(report.same ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (same.length === 0) return <Text size="sm">{t('scaling.sameNone')}</Text>;
  return (
    <Sheet label={t('scaling.sameOf')} head={[t('scaling.what'), t('field.value')]}>
      {same.map(([name, value]) => (
        <Table.Tr key={name}>
          <Table.Th scope="row">{name}</Table.Th>
          <Table.Td className="break">{value}</Table.Td>
        </Table.Tr>
      ))}
    </Sheet>
  );
}

function Raw({ report }: { report: ScalingResult }) {
  const { t, i18n } = useTranslation();
  const varying = Object.keys(report.lines?.[0]?.cells?.[0]?.parameters ?? {}).sort();
  const runs = [...(report.runs ?? [])].sort((a, b) => Date.parse(a.started ?? '') - Date.parse(b.started ?? ''));
  return (
    <Sheet
      label={t('scaling.rawOf')}
      head={[t('field.name'), t('field.started'), ...varying, report.metric ?? '', t('scaling.ranks')]}
    >
      {runs.map(({ id, name, started, value, world, parameters }) => (
        <Table.Tr key={`${id} ${name}`}>
          <Table.Th scope="row">
            <TextLink to="/runs/$runId" params={{ runId: id ?? '' }}>
              {name}
            </TextLink>
          </Table.Th>
          <Table.Td className="whole">{formatTime(started, i18n.language)}</Table.Td>
          {varying.map((parameter) => (
            <Table.Td key={parameter}>{parameters?.[parameter]}</Table.Td>
          ))}
          <Table.Td>{value === undefined ? t('field.none') : figure(value, i18n.language)}</Table.Td>
          <Table.Td>{world || t('field.none')}</Table.Td>
        </Table.Tr>
      ))}
    </Sheet>
  );
}
