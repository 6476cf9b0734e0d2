import { Button, FileButton, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconFileZip } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { upload } from '../api/pipelines';
import { asProblem } from '../api/problem';
import { announce } from '../app/announce';
import { Failure } from '../feedback/Failure';
import { formatBytes } from '../format/format';
import { Faults } from './Faults';
import { maxNameLength, maxPackageBytes, nameOfFile } from './packageFile';
import classes from './Upload.module.css';

interface UploadDialogProps {
  /** A file that was dropped already. */
  file?: File;
  /** Upload a version of this pipeline instead of a new pipeline. */
  versionOf?: { id: string; name: string };
  onClose: () => void;
}

/** Takes a package with its name and description to the server, and shows what the server makes of it. */
export function UploadDialog({ file: dropped, versionOf, onClose }: UploadDialogProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [file, setFile] = useState(dropped);
  const [name, setName] = useState(dropped ? nameOfFile(dropped.name) : '');
  const [named, setNamed] = useState(false);
  const [description, setDescription] = useState('');
  const [asked, setAsked] = useState(false);
  const problems = useProblems(file, name);

  const send = useMutation({
    mutationFn: upload,
    onSuccess: async (pipelineId) => {
      await client.invalidateQueries({ queryKey: versionOf ? ['pipeline', pipelineId] : ['pipelines'] });
      announce(t('pipelines.uploaded', { name }));
      onClose();
      await navigate({ to: '/pipelines/$pipelineId', params: { pipelineId } });
    },
  });

  const choose = (chosen: File | null) => {
    if (!chosen) return;
    setFile(chosen);
    send.reset();
    // A name that was typed is the user's; one that came from a file follows the file.
    if (!named) setName(nameOfFile(chosen.name));
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (file && !problems.file && !problems.name) {
      send.mutate({ file, name: name.trim(), description: description.trim(), pipelineID: versionOf?.id });
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={versionOf ? t('upload.titleVersion', { name: versionOf.name }) : t('upload.title')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
      closeOnClickOutside={!send.isPending}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <PackageField file={file} error={asked ? problems.file : problems.unfit} onFile={choose} />
          <TextInput
            label={versionOf ? t('upload.versionName') : t('upload.name')}
            value={name}
            required
            error={asked && problems.name}
            onChange={(event) => {
              setNamed(true);
              setName(event.currentTarget.value);
            }}
          />
          {!versionOf && (
            <Textarea
              label={t('field.description')}
              autosize
              minRows={2}
              value={description}
              onChange={(event) => setDescription(event.currentTarget.value)}
            />
          )}
          {send.isError && <Failure title={t('upload.refused')} error={send.error} />}
          {send.isError && <Faults faults={asProblem(send.error).faults} />}
          <Group justify="space-between">
            <Text size="sm" c="dimmed" role="status">
              {send.isPending && t('upload.sending')}
            </Text>
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                {t('action.cancel')}
              </Button>
              <Button type="submit" loading={send.isPending}>
                {t('upload.submit')}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** What is wrong with the form; `unfit` is what can be said before it is sent. */
function useProblems(file: File | undefined, name: string) {
  const { t, i18n } = useTranslation();
  let unfit: string | undefined;
  if (file?.size === 0) unfit = t('upload.fileEmpty');
  if (file && file.size > maxPackageBytes)
    unfit = t('upload.fileLarge', { size: formatBytes(file.size, i18n.language) });
  let nameProblem: string | undefined;
  if (name.trim() === '') nameProblem = t('upload.nameNeeded');
  if (name.length > maxNameLength) nameProblem = t('upload.nameLong', { count: name.length });
  return { unfit, file: file ? unfit : t('upload.fileNeeded'), name: nameProblem };
}

interface PackageFieldProps {
  file: File | undefined;
  error: string | undefined;
  onFile: (file: File | null) => void;
}

function PackageField({ file, error, onFile }: PackageFieldProps) {
  const { t, i18n } = useTranslation();
  const [over, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the button in it does the same
    <div
      className={classes.file}
      data-over={over || undefined}
      data-error={error ? true : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFile(event.dataTransfer.files[0] ?? null);
      }}
    >
      <IconFileZip size={30} stroke={1.4} aria-hidden />
      {file ? (
        <Text fw={550} className="break">
          {file.name} · {formatBytes(file.size, i18n.language)}
        </Text>
      ) : (
        <Text size="sm">{t('upload.drop')}</Text>
      )}
      <FileButton onChange={onFile} inputProps={{ 'aria-label': t('upload.file') }}>
        {(props) => (
          <Button {...props} variant="default" size="xs" data-autofocus>
            {file ? t('upload.replace') : t('upload.choose')}
          </Button>
        )}
      </FileButton>
      <Text size="xs" c={error ? 'var(--ar-bad)' : 'dimmed'} role={error ? 'alert' : undefined}>
        {error ?? t('upload.hint')}
      </Text>
    </div>
  );
}
