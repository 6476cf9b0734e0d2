import { useTranslation } from 'react-i18next';
import { Page } from '../app/Page';
import { Answers } from './Answers';
import { Charts } from './Charts';
import { Buttons, Fields, Openers } from './Controls';
import { Section } from './Section';
import { States } from './States';
import { Tables } from './Tables';
import { TokenTables } from './TokenTables';

/** Every component that pages share, in each of its states, and the sizes and colours that they are made of. */
export function ComponentsPage() {
  const { t } = useTranslation();
  return (
    <Page title={t('pages.components')}>
      <Section title={t('components.tokens')} note={t('components.tokensNote')}>
        <TokenTables />
      </Section>
      <Buttons />
      <States />
      <Answers />
      <Tables />
      <Fields />
      <Openers />
      <Charts />
    </Page>
  );
}
