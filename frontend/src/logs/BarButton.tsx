import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

interface BarButtonProps {
  label: string;
  /** Of a switch: whether it is on. */
  pressed?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** A button of the bar above a log. */
export function BarButton({ label, pressed, onClick, children }: BarButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={pressed ? 'light' : 'subtle'}
        color="gray"
        aria-label={label}
        aria-pressed={pressed}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
