import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Components.module.css';

interface SectionProps {
  title: string;
  /** What holds for all of its examples. */
  note?: string;
  children: ReactNode;
}

/** Components of one kind. */
export function Section({ title, note, children }: SectionProps) {
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <div>
        <Title order={2} size="h5">
          {title}
        </Title>
        {note && (
          <Text size="sm" c="dimmed">
            {note}
          </Text>
        )}
      </div>
      {children}
    </section>
  );
}

interface ExampleProps {
  /** The component's name in the code, or a state of it. */
  name: string;
  /** One below the other, each as wide as the page. */
  wide?: boolean;
  children: ReactNode;
}

/** A component as it looks, below its name in the code. The pictures and tests of pages do not wait for skeletons in it. */
export function Example({ name, wide, children }: ExampleProps) {
  return (
    <div data-example>
      <Text size="xs" c="dimmed" className="mono">
        {name}
      </Text>
      <div className={wide ? classes.column : classes.row}>{children}</div>
    </div>
  );
}
