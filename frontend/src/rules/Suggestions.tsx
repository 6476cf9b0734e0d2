import { Button, Table, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SuggestedRule } from '../api/rules';
import { formatMetric } from '../format/format';
import classes from './Rules.module.css';

interface SuggestionsProps {
  suggestions: SuggestedRule[];
  onTake: (rule: string) => void;
}

/** Rules that find numbers in the log, to be taken with one press. */
export function Suggestions({ suggestions, onTake }: SuggestionsProps) {
  const { t, i18n } = useTranslation();
  return (
    <section className={`panel ${classes.section}`} aria-label={t('rules.suggestions')}>
      <Title order={2} size="h5">
        {t('rules.suggestions')}
      </Title>
      {suggestions.length === 0 ? (
        <Text size="sm">{t('rules.noSuggestions')}</Text>
      ) : (
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {[t('rules.rule'), t('rules.numbers'), t('rules.result'), t('rules.madeFor')].map((name) => (
                <Table.Th key={name} scope="col">
                  {name}
                </Table.Th>
              ))}
              <Table.Td />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {suggestions.map(({ rule = '', points, value, why }) => (
              <Table.Tr key={rule}>
                <Table.Th scope="row" className="mono break">
                  {rule}
                </Table.Th>
                <Table.Td>{points}</Table.Td>
                <Table.Td>{value === undefined ? t('field.none') : formatMetric(value, 'RAW', i18n.language)}</Table.Td>
                <Table.Td>{why}</Table.Td>
                <Table.Td>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={t('rules.use', { rule })}
                    onClick={() => onTake(rule)}
                  >
                    {t('rules.take')}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
