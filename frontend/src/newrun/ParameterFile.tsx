import { Alert, Button, CopyButton, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconFileImport, IconLink } from '@tabler/icons-react';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../format/format';
import { DropTarget } from '../pipelines/DropTarget';
import type { ParameterRule } from '../pipelines/template';
import type { FileFault } from './parameterFile';

interface ParameterFileProps {
  names: string[];
  rules: Record<string, ParameterRule>;
  onValues: (values: Record<string, string>) => void;
}

// Values are written by hand; a longer file is something else.
const maxFileBytes = 1024 * 1024;

interface Report {
  file: string;
  taken: number;
  faults: FileFault[];
}

/** Fills parameters in from a file, and copies the address that does the same. */
export function ParameterFile({ names, rules, onValues }: ParameterFileProps) {
  const { t, i18n } = useTranslation();
  const path = useLocation({ select: ({ href }) => href });
  const [report, setReport] = useState<Report>();
  const read = async (file: File | null) => {
    if (!file) return;
    try {
      if (file.size > maxFileBytes)
        throw new Error(t('newRun.file.tooLarge', { most: formatBytes(maxFileBytes, i18n.language) }));
      const { readParameterFile } = await import('./parameterFile');
      const { values, faults } = readParameterFile(await file.text(), names, rules, t);
      onValues(values);
      setReport({ file: file.name, taken: Object.keys(values).length, faults });
    } catch (error) {
      setReport({ file: file.name, taken: 0, faults: [{ message: (error as Error).message }] });
    }
  };
  return (
    <Stack gap="xs">
      <DropTarget label={t('newRun.file.drop')} disabled={false} onFile={(file) => void read(file)} />
      <Group gap="xs">
        <FileButton
          accept=".yaml,.yml,.json,application/json,application/yaml"
          inputProps={{ 'aria-label': t('newRun.file.choose') }}
          onChange={(file) => void read(file)}
        >
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<IconFileImport size={14} aria-hidden />}>
              {t('newRun.file.choose')}
            </Button>
          )}
        </FileButton>
        <CopyButton value={globalThis.location.origin + path}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconLink size={14} aria-hidden />}
              title={t('newRun.linkHint')}
              onClick={copy}
            >
              {copied ? t('action.copied') : t('newRun.copyLink')}
            </Button>
          )}
        </CopyButton>
        <Text size="xs" c="dimmed" role="status">
          {report && t('newRun.file.taken', { count: report.taken, file: report.file })}
        </Text>
      </Group>
      {report && report.faults.length > 0 && (
        <Alert
          color="red"
          variant="outline"
          role="alert"
          title={t('newRun.file.faults', { file: report.file })}
          withCloseButton
          closeButtonLabel={t('action.close')}
          onClose={() => setReport(undefined)}
        >
          <ul style={{ margin: 0, paddingLeft: 16 }}>
            {report.faults.map(({ line, message }) => (
              <li key={`${line} ${message}`} className="break">
                {line === undefined ? message : t('newRun.file.onLine', { line, message })}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </Stack>
  );
}
