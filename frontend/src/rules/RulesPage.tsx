import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type TrialInput, trialQuery } from '../api/rules';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { lastPart, rulesOf } from './cut';
import { RuleResult } from './RuleResult';
import classes from './Rules.module.css';
import { Suggestions } from './Suggestions';

const route = getRouteApi('/metrics/test');

/** Tries rules for metrics on a log that is pasted, and suggests some. */
export function RulesPage() {
  const { t } = useTranslation();
  const { rule = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const [log, setLog] = useState('');
  const [rules, setRules] = useState(rule.join('\n'));
  const [input, setInput] = useState<TrialInput>();
  const { data, error, isFetching, refetch } = useQuery(trialQuery(input));

  const test = (text: string) => {
    const chosen = rulesOf(text);
    setInput({ log: lastPart(log), rules: chosen });
    void navigate({ search: { rule: chosen.length > 0 ? chosen : undefined }, replace: true, resetScroll: false });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test(rules);
  };
  const take = (one: string) => {
    const text = [...rulesOf(rules).filter((other) => other !== one), one].join('\n');
    setRules(text);
    test(text);
  };
  return (
    <Page title={t('pages.rules')}>
      <Text size="sm" c="dimmed">
        {t('rules.text')}
      </Text>
      <form onSubmit={submit} className={`panel ${classes.form}`}>
        <Textarea
          label={t('rules.log')}
          description={t('rules.logHint')}
          required
          withAsterisk={false}
          rows={12}
          spellCheck={false}
          classNames={{ input: classes.text }}
          value={log}
          onChange={(event) => setLog(event.currentTarget.value)}
        />
        <Textarea
          label={t('rules.rule')}
          description={t('rules.ruleHint')}
          autosize
          minRows={2}
          spellCheck={false}
          classNames={{ input: classes.text }}
          value={rules}
          onChange={(event) => setRules(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={isFetching}>
            {t('rules.test')}
          </Button>
          <FileButton onChange={(file) => void file?.text().then(setLog)}>
            {(props) => (
              <Button {...props} variant="default">
                {t('rules.open')}
              </Button>
            )}
          </FileButton>
        </Group>
      </form>
      {error && <Failure title={t('rules.failed')} error={error} onRetry={() => void refetch()} />}
      {input && !data && !error && <Awaiting what={t('rules.await')} />}
      {data && (
        <Stack>
          {(data.reports ?? []).map((report) => (
            <RuleResult key={report.rule} report={report} />
          ))}
          <Suggestions suggestions={data.suggestions ?? []} onTake={take} />
        </Stack>
      )}
    </Page>
  );
}
