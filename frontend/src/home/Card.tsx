import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Home.module.css';

/** One subject of the page. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.card}`} aria-label={title}>
      <Title order={2} size="h5" mb={4}>
        {title}
      </Title>
      {children}
    </section>
  );
}

interface RowsProps {
  title: string;
  /** Stands in place of the rows where there are none. */
  empty: string | false;
  children: ReactNode;
}

/** A subject with a list of rows. */
export function Rows({ title, empty, children }: RowsProps) {
  return (
    <Card title={title}>
      {empty ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <ul className={classes.rows}>{children}</ul>
      )}
    </Card>
  );
}
