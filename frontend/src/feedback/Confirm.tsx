import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Failure } from './Failure';

interface ConfirmProps {
  title: string;
  text: string;
  /** The word on the button that does it. */
  action: string;
  busy: boolean;
  /** Why it could not be done; null while it could. */
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, action, busy, error, onConfirm, onClose }: ConfirmProps) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('action.close') }}>
      <Stack>
        <Text size="sm">{text}</Text>
        {error !== null && error !== undefined && <Failure title={action} error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('action.cancel')}
          </Button>
          <Button color="var(--ar-danger)" loading={busy} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
