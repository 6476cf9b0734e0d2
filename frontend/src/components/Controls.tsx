import {
  ActionIcon,
  Button,
  Checkbox,
  Menu,
  NativeSelect,
  Select,
  Tabs,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { IconDots, IconDownload, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { announce } from '../app/announce';
import { ButtonLink, TextLink } from '../app/links';
import { Confirm } from '../feedback/Confirm';
import { Copyable } from '../feedback/Copyable';
import { Segments } from '../feedback/Segments';
import { ParameterFields } from '../newrun/ParameterFields';
import { SearchField } from '../table/SearchField';
import { Example, Section } from './Section';

/** What is pressed. */
export function Buttons() {
  const { t } = useTranslation();
  return (
    <Section title={t('components.buttons')}>
      <Example name="Button">
        <Button>{t('action.create')}</Button>
        <Button leftSection={<IconPlus size={16} aria-hidden />}>{t('action.create')}</Button>
        <Button variant="default">{t('action.cancel')}</Button>
        <Button variant="subtle">{t('action.clearFilter')}</Button>
        <Button variant="default" c="var(--ar-bad)">
          {t('run.terminate')}
        </Button>
        <Button color="var(--ar-danger)">{t('action.delete')}</Button>
      </Example>
      <Example name="Button disabled, loading">
        <Button disabled>{t('action.create')}</Button>
        <Button variant="default" disabled>
          {t('action.cancel')}
        </Button>
        <Button loading>{t('action.create')}</Button>
      </Example>
      <Example name="Button size=&quot;xs&quot;, &quot;compact-sm&quot;">
        <Button size="xs" variant="default">
          {t('action.retry')}
        </Button>
        <Button size="compact-sm" variant="default">
          {t('action.retry')}
        </Button>
      </Example>
      <Example name="ButtonLink, TextLink">
        <ButtonLink to="/runs">{t('pages.runs')}</ButtonLink>
        <TextLink to="/runs">{t('pages.runs')}</TextLink>
      </Example>
      <Example name="ActionIcon, Tooltip">
        <Tooltip label={t('action.download')}>
          <ActionIcon variant="default" aria-label={t('action.download')}>
            <IconDownload size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
        <ActionIcon variant="default" disabled aria-label={t('action.download')}>
          <IconDownload size={16} aria-hidden />
        </ActionIcon>
      </Example>
      <Example name="Copyable" wide>
        <Copyable text="argosy run list --status Failed" />
      </Example>
    </Section>
  );
}

/** What opens: menus, tabs and dialogs. */
export function Openers() {
  const { t } = useTranslation();
  const [asking, setAsking] = useState<'idle' | 'failed'>();
  return (
    <Section title={t('components.openers')} note={t('components.openersNote')}>
      <Example name="Menu">
        <Menu>
          <Menu.Target>
            <ActionIcon variant="default" aria-label={t('components.openMenu')}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item>{t('action.download')}</Menu.Item>
            <Menu.Item disabled>{t('action.copy')}</Menu.Item>
            <Menu.Divider />
            <Menu.Item c="var(--ar-bad)">{t('action.delete')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Example>
      <Example name="Tabs" wide>
        <Tabs defaultValue="graph" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="graph">{t('pipeline.graph')}</Tabs.Tab>
            <Tabs.Tab value="yaml">{t('pipeline.yaml')}</Tabs.Tab>
            <Tabs.Tab value="runs" disabled>
              {t('pipeline.runs')}
            </Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="graph" pt="sm">
            {t('components.tabText')}
          </Tabs.Panel>
          <Tabs.Panel value="yaml" pt="sm">
            {t('pipeline.yaml')}
          </Tabs.Panel>
        </Tabs>
      </Example>
      <Example name="Confirm">
        <Button variant="default" onClick={() => setAsking('idle')}>
          {t('components.openDialog')}
        </Button>
        <Button variant="default" onClick={() => setAsking('failed')}>
          {t('components.openFailed')}
        </Button>
        {asking && (
          <Confirm
            title={t('pipelines.deleteTitle')}
            text={t('pipelines.deleteText', { name: 'mpi_run' })}
            action={t('action.delete')}
            busy={false}
            error={asking === 'failed' ? new Error('pipeline mpi_run has schedules; delete them first') : null}
            onConfirm={() => setAsking(undefined)}
            onClose={() => setAsking(undefined)}
          />
        )}
      </Example>
      <Example name="announce">
        <Button variant="default" onClick={() => announce(t('components.announced'))}>
          {t('components.announce')}
        </Button>
      </Example>
    </Section>
  );
}

const parameters = [
  { name: 'dataset', value: 'cifar-10', fallback: 'cifar-10' },
  { name: 'workers', value: '4', fallback: '2' },
  { name: 'rate', value: 'fast', fallback: '0.1' },
  { name: 'augment', value: 'true', fallback: 'true' },
  { name: 'model', value: 'resnet', fallback: 'resnet' },
  { name: 'options', value: '{"depth": 5', fallback: '{}' },
];
const rules = {
  workers: { type: 'Integer', min: 1, max: 8 },
  rate: { type: 'Float' },
  augment: { type: 'Bool' },
  model: { choices: ['resnet', 'vgg'] },
  options: { type: 'JsonObject' },
};

/** What is filled in. */
export function Fields() {
  const { t } = useTranslation();
  const [values, setValues] = useState<Record<string, string>>({});
  const [scheme, setScheme] = useState<'active' | 'archived'>('active');
  return (
    <Section title={t('components.fields')} note={t('components.fieldsNote')}>
      <Example name="ParameterFields" wide>
        <ParameterFields
          parameters={parameters.map((one) => ({ ...one, value: values[one.name] ?? one.value }))}
          rules={rules}
          onChange={(name, value) => setValues((held) => ({ ...held, [name]: value }))}
        />
        <ParameterFields parameters={[]} rules={{}} onChange={() => undefined} />
      </Example>
      <Example name="TextInput, Textarea" wide>
        <TextInput label={t('field.name')} required placeholder="mpi_run" maw={360} />
        <TextInput label={t('field.name')} defaultValue="" error={t('experiments.nameNeeded')} maw={360} />
        <TextInput label={t('field.name')} defaultValue="mpi_run" disabled maw={360} />
        <Textarea label={t('field.description')} autosize minRows={2} maw={360} />
      </Example>
      <Example name="Select, NativeSelect, SearchField">
        <Select label={t('field.experiment')} data={['Default', 'Nightly']} defaultValue="Default" />
        <NativeSelect label={t('field.experiment')} data={['Default', 'Nightly']} />
        <SearchField label={t('list.filter')} q={undefined} onSearch={() => undefined} />
      </Example>
      <Example name="Segments, Checkbox">
        <Segments
          aria-label={t('runs.archive')}
          value={scheme}
          onChange={setScheme}
          data={[
            { value: 'active', label: t('runs.active') },
            { value: 'archived', label: t('runs.archived') },
          ]}
        />
        <Checkbox label={t('runs.active')} defaultChecked />
        <Checkbox label={t('runs.archived')} />
        <Checkbox label={t('runs.archived')} disabled />
      </Example>
    </Section>
  );
}
