import { Alert, Group, Table, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { RuleLine, RuleReport } from '../api/rules';
import { formatMetric } from '../format/format';
import classes from './Rules.module.css';

/** What a rule found: what each way to reduce gives, the lines that match, and those that nearly do. */
export function RuleResult({ report }: { report: RuleReport }) {
  const { t, i18n } = useTranslation();
  const title = t('rules.ruleOf', { rule: report.rule });
  const number = (value: number | undefined) =>
    value === undefined ? t('field.none') : formatMetric(value, 'RAW', i18n.language);
  if (report.refused) {
    return (
      <Alert
        color="red"
        variant="outline"
        title={`${t('rules.badRule')}: ${report.rule}`}
        icon={<IconAlertTriangle aria-hidden />}
        styles={{
          root: { background: 'var(--ar-bad-bg)', borderColor: 'var(--ar-bad)' },
          title: { color: 'var(--ar-bad)' },
          icon: { color: 'var(--ar-bad)' },
        }}
      >
        {report.refused}
      </Alert>
    );
  }
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      {report.points ? (
        <>
          <Text size="sm">
            {t('rules.found', { count: report.points })}
            {report.ranks ? ` ${t('rules.ofRanks', { count: report.ranks })}` : ''}
          </Text>
          <Table verticalSpacing={4} w="auto">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('rules.reduce')}</Table.Th>
                <Table.Th scope="col">{t('rules.result')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {(report.results ?? []).map(({ reduce, value }) => (
                <Table.Tr key={reduce}>
                  <Table.Th scope="row">{reduce}</Table.Th>
                  <Table.Td>
                    <Group gap={6}>
                      {number(value)}
                      {reduce === report.reduce && (
                        <Text span size="xs">
                          <IconCheck size={12} aria-hidden /> {t('rules.chosen')}
                        </Text>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Lines
            title={t('rules.matches')}
            column={t('field.value')}
            lines={report.matches ?? []}
            more={report.more_matches ?? 0}
            of={({ value, unit, summary }) =>
              `${number(value)}${unit ? ` ${unit}` : ''}${summary ? ` (${t('rules.ofAll')})` : ''}`
            }
          />
        </>
      ) : (
        <Text size="sm">{t('rules.none')}</Text>
      )}
      {(report.misses ?? []).length > 0 && (
        <Lines
          title={t('rules.misses')}
          column={t('scaling.why')}
          lines={report.misses ?? []}
          more={report.more_misses ?? 0}
          of={({ miss }) => miss ?? ''}
        />
      )}
    </section>
  );
}

interface LinesProps {
  title: string;
  /** Of what stands beside each line. */
  column: string;
  lines: RuleLine[];
  more: number;
  of: (line: RuleLine) => string;
}

function Lines({ title, column, lines, more, of }: LinesProps) {
  const { t } = useTranslation();
  return (
    <div>
      <Title order={3} size="h6">
        {title}
      </Title>
      <section className={classes.scroll} tabIndex={0} aria-label={title}>
        <Table verticalSpacing={2}>
          <Table.Thead>
            <Table.Tr>
              {[t('rules.line'), t('rules.rank'), column, t('rules.printed')].map((name) => (
                <Table.Th key={name} scope="col">
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((line) => (
              <Table.Tr key={`${line.line}/${line.rank}`}>
                <Table.Td>{line.line}</Table.Td>
                <Table.Td>{line.rank ?? t('field.none')}</Table.Td>
                <Table.Td>{of(line)}</Table.Td>
                <Table.Td className={classes.printed}>{line.text}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {more > 0 && (
        <Text size="xs" c="dimmed">
          {t('rules.more', { count: more })}
        </Text>
      )}
    </div>
  );
}
