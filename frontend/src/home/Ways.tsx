import { Code, Text, Title } from '@mantine/core';
import { IconBrandGolang, IconPlayerPlay, IconUpload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../app/links';
import classes from './Home.module.css';
import { Samples } from './Samples';

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
        <Way icon={<IconPlayerPlay size={20} aria-hidden />} title={t('home.waySample')}>
          <Samples />
        </Way>
        <Way icon={<IconUpload size={20} aria-hidden />} title={t('home.wayUpload')} text={t('home.wayUploadText')}>
          <ButtonLink to="/pipelines" variant="default" style={{ alignSelf: 'flex-start' }}>
            {t('pipelines.upload')}
          </ButtonLink>
          <Text size="sm" c="dimmed">
            {t('home.wayAPIText')} <a href="/apis/docs">{t('settings.docs')}</a>
          </Text>
          <Code block tabIndex={0}>{`pip install kfp==1.8.22
python3 -c "import kfp
client = kfp.Client(host='${origin}')
client.upload_pipeline('pipeline.yaml')"`}</Code>
        </Way>
        <Way icon={<IconBrandGolang size={20} aria-hidden />} title={t('home.wayGo')} text={t('home.wayGoText')}>
          <Code block tabIndex={0}>
            {goLines}
          </Code>
        </Way>
      </div>
    </>
  );
}

interface WayProps {
  icon: ReactNode;
  title: string;
  text?: string;
  children: ReactNode;
}

function Way({ icon, title, text, children }: WayProps) {
  return (
    <section className={`panel ${classes.card}`} style={{ display: 'flex', flexDirection: 'column', gap: 8 }}>
      <Title order={2} size="h5" style={{ display: 'flex', gap: 8, alignItems: 'center' }}>
        {icon}
        {title}
      </Title>
      {text && (
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      )}
      {children}
    </section>
  );
}
