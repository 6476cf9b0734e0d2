import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { deletePipeline } from '../api/pipelines';
import { announce } from '../app/announce';
import { Confirm } from '../feedback/Confirm';

interface DeletePipelineProps {
  pipeline: { id: string; name: string };
  onClose: () => void;
  onDeleted?: () => void;
}

/** Asks, then deletes a pipeline. */
export function DeletePipeline({ pipeline, onClose, onDeleted }: DeletePipelineProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deletePipeline(pipeline.id),
    onSuccess: async () => {
      announce(t('pipelines.deleted', { name: pipeline.name }));
      onClose();
      onDeleted?.();
      await client.invalidateQueries({ queryKey: ['pipelines'] });
    },
  });
  return (
    <Confirm
      title={t('pipelines.deleteTitle')}
      text={t('pipelines.deleteText', { name: pipeline.name })}
      action={t('action.delete')}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
