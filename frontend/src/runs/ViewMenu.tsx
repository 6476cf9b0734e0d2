import { ActionIcon, Button, Group, Menu, Text, TextInput } from '@mantine/core';
import { IconBookmark, IconCheck, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunsSearch } from '../api/runs';
import { announce } from '../app/announce';
import { useOpenAtOnce } from '../feedback/useOpenAtOnce';
import { searchOf, useCurrentView, useViews, viewOf } from './views';

/** Opens views that were saved under a name, and saves the one that is shown. */
export default function ViewMenu({ search }: { search: RunsSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { views, save, remove } = useViews();
  const [opened, setOpened] = useOpenAtOnce();
  const [name, setName] = useState('');
  const current = useCurrentView(search);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    save({ name: name.trim(), search: viewOf(search) });
    announce(t('views.saved', { name: name.trim() }));
    setName('');
    setOpened(false);
  };
  return (
    <Menu opened={opened} onChange={setOpened} width={300} closeOnItemClick>
      <Menu.Target>
        <Button autoFocus variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
          {current?.name ?? t('runs.views')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {views.map((view) => (
          <Group key={view.name} gap={4} wrap="nowrap" role="none">
            <Menu.Item
              className="break"
              leftSection={<IconCheck size={16} aria-hidden style={{ opacity: view.name === current?.name ? 1 : 0 }} />}
              onClick={() => void navigate({ to: '/runs', search: searchOf(view) as never })}
            >
              {view.name}
            </Menu.Item>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('views.remove', { name: view.name })}
              onClick={() => remove(view.name)}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Text size="xs" c="dimmed" px="sm" py={6}>
          {views.length > 0 ? t('views.kept') : t('views.none')}
        </Text>
        <form onSubmit={submit}>
          <Group gap={6} p={6} wrap="nowrap">
            <TextInput
              size="xs"
              flex={1}
              aria-label={t('views.name')}
              placeholder={t('views.name')}
              value={name}
              // The menu takes letters for the names of its items.
              onKeyDown={(event) => event.key !== 'Escape' && event.stopPropagation()}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button size="xs" type="submit" disabled={!name.trim()}>
              {t('views.save')}
            </Button>
          </Group>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
