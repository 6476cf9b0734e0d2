import { Group, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  icon: ReactNode;
  title: string;
  /** What to do about it. */
  text: string;
  children?: ReactNode;
}

/** Stands where there is nothing yet, and says what to do. */
export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <Stack align="center" gap="sm" py={48} px="md" className="panel">
      <ThemeIcon size={52} radius="xl" variant="light" aria-hidden>
        {icon}
      </ThemeIcon>
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" ta="center" maw={520}>
        {text}
      </Text>
      {children && <Group mt="xs">{children}</Group>}
    </Stack>
  );
}
