import { Code, Text, Title } from '@mantine/core';
import { IconApi, IconBrandGolang, IconUpload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../app/links';
import classes from './Home.module.css';

const goLines = `argosy new my-pipeline
argosy compile my-pipeline -o my-pipeline.tar.gz
argosy pipeline upload my-pipeline.tar.gz
argosy run create --pipeline my-pipeline --wait`;

/** The three ways to a first run, for a server that has none. */
export function Ways() {
  const { t } = useTranslation();
  const origin = globalThis.location?.origin ?? '';
  return (
    <>
      <Text>{t('home.welcome')}</Text>
      <div className={classes.ways}>
        <Way icon={<IconUpload size={20} aria-hidden />} title={t('home.wayUpload')} text={t('home.wayUploadText')}>
          <ButtonLink to="/pipelines" style={{ alignSelf: 'flex-start' }}>
            {t('pipelines.upload')}
          </ButtonLink>
        </Way>
        <Way icon={<IconBrandGolang size={20} aria-hidden />} title={t('home.wayGo')} text={t('home.wayGoText')}>
          <Code block tabIndex={0}>
            {goLines}
          </Code>
        </Way>
        <Way icon={<IconApi size={20} aria-hidden />} title={t('home.wayAPI')} text={t('home.wayAPIText')}>
          <Code block tabIndex={0}>{`pip install kfp==1.8.22
python3 -c "import kfp
client = kfp.Client(host='${origin}')
client.upload_pipeline('pipeline.yaml')"`}</Code>
          <a href="/apis/docs">{t('settings.docs')}</a>
        </Way>
      </div>
    </>
  );
}

function Way({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.card}`} style={{ display: 'flex', flexDirection: 'column', gap: 8 }}>
      <Title order={2} size="h5" style={{ display: 'flex', gap: 8, alignItems: 'center' }}>
        {icon}
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {children}
    </section>
  );
}
