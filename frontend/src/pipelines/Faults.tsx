import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Fault } from '../api/problem';
import classes from './Upload.module.css';

/** Where a manifest is wrong: the place, what is wrong there, and the lines around it. */
export function Faults({ faults }: { faults: Fault[] }) {
  const { t } = useTranslation();
  if (faults.length === 0) return null;
  return (
    <Stack component="ol" gap="sm" m={0} p={0} aria-label={t('upload.faults')} style={{ listStyle: 'none' }}>
      {faults.map(({ line = 0, column, path, message, excerpt = [], excerpt_from: from = 1 }) => (
        <li key={`${line} ${column} ${message}`}>
          <Text size="sm" className="break">
            <Text span inherit fw={550}>
              {column ? t('upload.at', { line, column }) : t('upload.onLine', { line })}
            </Text>
            {path && !message?.includes(path) && <span className="mono"> · {path}</span>}
          </Text>
          <Text size="sm" className="break">
            {message}
          </Text>
          {excerpt.length > 0 && (
            <section className={classes.excerpt} tabIndex={0} aria-label={t('upload.onLine', { line })}>
              {excerpt.map((text, i) => {
                const number = from + i;
                return (
                  <span key={number} className={classes.line} data-wrong={number === line || undefined}>
                    <span className={classes.number}>
                      {number === line ? '›' : ' '}
                      {String(number).padStart(String(from + excerpt.length).length)}
                    </span>
                    {`${text}\n`}
                  </span>
                );
              })}
            </section>
          )}
        </li>
      ))}
    </Stack>
  );
}
