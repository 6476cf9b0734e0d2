import { Button, Code, Group, Select, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { artifactQuery, artifactURL } from '../api/outputs';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { formatBytes } from '../format/format';
import { save } from '../metrics/download';
import { CsvTable } from './CsvTable';
import { imageType, kindOf, textOf } from './kind';
import classes from './Outputs.module.css';
import { SandboxedPage } from './SandboxedPage';
import { type Member, type Unpacked, unpack } from './unpack';

interface ArtifactPreviewProps {
  run: Run;
  nodeID: string;
  name: string;
  step: string;
}

/** An artifact: what is in it, how large it is, and a way to have it. */
export function ArtifactPreview({ run, nodeID, name, step }: ArtifactPreviewProps) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    ...artifactQuery(run.id, nodeID, name),
  });
  const { data: unpacked, error: broken } = useQuery({
    queryKey: ['run', run.id, 'artifact', nodeID, name, 'unpacked'],
    queryFn: () => unpack(data as Uint8Array<ArrayBuffer>, name),
    enabled: data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const what = t('outputs.artifactOf', { name, step });
  return (
    <section className={`panel ${classes.preview}`} aria-label={what}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h6" className={classes.title}>
          {what}
        </Title>
        <Button
          component="a"
          href={artifactURL(run.id, nodeID, name)}
          download
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          {t('outputs.asStored')}
        </Button>
      </Group>
      {error ? (
        <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />
      ) : !data || (!unpacked && !broken) ? (
        <Awaiting what={what} />
      ) : (
        <Content name={name} stored={data} unpacked={unpacked} />
      )}
    </section>
  );
}

interface ContentProps {
  name: string;
  stored: Uint8Array<ArrayBuffer>;
  /** Undefined: the archive is damaged. */
  unpacked: Unpacked | undefined;
}

function Content({ name, stored, unpacked }: ContentProps) {
  const { t, i18n } = useTranslation();
  const [at, setAt] = useState(0);
  const file = unpacked?.files[at];
  const size = (bytes: number) => formatBytes(bytes, i18n.language);
  return (
    <>
      <Group gap="sm">
        {unpacked && unpacked.files.length > 1 && (
          <Select
            size="xs"
            w={280}
            searchable
            aria-label={t('outputs.file')}
            value={String(at)}
            data={unpacked.files.map((one, i) => ({ value: String(i), label: `${one.name} · ${size(one.size)}` }))}
            onChange={(value) => setAt(Number(value ?? 0))}
          />
        )}
        <Text size="sm" c="dimmed">
          {file ? t('outputs.sizes', { size: size(file.size), stored: size(stored.length) }) : size(stored.length)}
        </Text>
        {file && file.bytes.length === file.size && (
          <SaveButton label={t('action.download')} bytes={file.bytes} name={file.name.split('/').at(-1) || name} />
        )}
      </Group>
      {!unpacked ? (
        <Text size="sm">{t('outputs.damaged')}</Text>
      ) : file ? (
        <FileView key={at} file={file} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('outputs.emptyArchive')}
        </Text>
      )}
      {unpacked?.cut && (
        <Text size="xs" c="dimmed">
          {t('outputs.cut')}
        </Text>
      )}
    </>
  );
}

function SaveButton({ label, bytes, name }: { label: string; bytes: Uint8Array<ArrayBuffer>; name: string }) {
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconDownload size={14} aria-hidden />}
      onClick={() => save(new Blob([bytes]), name)}
    >
      {label}
    </Button>
  );
}

// As much text as a page shows without becoming slow.
const mostText = 200_000;

/** A look at a file. */
export function FileView({ file }: { file: Member }) {
  const { t } = useTranslation();
  const kind = useMemo(() => kindOf(file.name, file.bytes), [file]);
  if (file.size === 0) return <Text c="dimmed">{t('outputs.emptyFile')}</Text>;
  if (kind === 'binary') return <Text size="sm">{t('outputs.binary')}</Text>;
  if (kind === 'image') return <Picture file={file} />;
  const whole = textOf(file.bytes) ?? '';
  if (kind === 'html') {
    return (
      <>
        <SandboxedPage html={whole} title={file.name} />
        <Text size="xs" c="dimmed">
          {t('outputs.sandbox')}
        </Text>
      </>
    );
  }
  if (kind === 'csv') return <CsvTable text={whole} label={file.name} />;
  const text = kind === 'json' && whole.length < mostText ? JSON.stringify(JSON.parse(whole), null, 2) : whole;
  return (
    <>
      <Code block tabIndex={0} className={classes.raw}>
        {text.slice(0, mostText)}
      </Code>
      {text.length > mostText && (
        <Text size="xs" c="dimmed">
          {t('outputs.firstText')}
        </Text>
      )}
    </>
  );
}

function Picture({ file }: { file: Member }) {
  const [url, setURL] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([file.bytes], { type: imageType(file.bytes) }));
    setURL(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url && <img src={url} alt={file.name} className={classes.image} />;
}
