import { Table, Title, useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LineKey } from '../metrics/LineKey';
import classes from './Components.module.css';
import { type Kind, kindOf, kinds, readTokens, type Token } from './tokens';

/** Every token by its kind. The values are read from the page, so that they are those of its theme. */
export function TokenTables() {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
  const [tokens, setTokens] = useState<Token[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes what is read
  useEffect(() => setTokens(readTokens()), [scheme]);
  return (
    <div className={classes.tables}>
      {kinds.map((kind) => (
        <KindTable
          key={kind}
          kind={kind}
          title={t(`components.kind.${kind}`)}
          tokens={tokens.filter(({ name }) => kindOf(name) === kind)}
        />
      ))}
    </div>
  );
}

function KindTable({ kind, title, tokens }: { kind: Kind; title: string; tokens: Token[] }) {
  const { t } = useTranslation();
  return (
    <div className={classes.table} data-kind={kind}>
      <Title order={3} size="h6">
        {title}
      </Title>
      <Table aria-label={title} verticalSpacing={4} horizontalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('components.sample')}</Table.Th>
            <Table.Th scope="col">{t('field.name')}</Table.Th>
            <Table.Th scope="col">{t('field.value')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tokens.map((token) => (
            <Table.Tr key={token.name}>
              <Table.Td>{sampleOf(kind, token)}</Table.Td>
              <Table.Td className="mono">{token.name}</Table.Td>
              <Table.Td className="mono">{token.value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

const letters = 'Aa 文';

function sampleOf(kind: Kind, { name, value }: Token): ReactNode {
  const token = `var(${name})`;
  if (kind === 'space') return <span className={classes.bar} style={{ width: token }} />;
  if (kind === 'radius') return <span className={classes.corner} style={{ borderRadius: token }} />;
  if (kind === 'text') return <span style={{ fontSize: token }}>{letters}</span>;
  if (kind === 'weight') return <span style={{ fontWeight: token }}>{letters}</span>;
  if (kind === 'font') return <span style={{ fontFamily: token }}>{letters}</span>;
  if (kind === 'series') return <LineKey index={Number(name.split('-').at(-1)) - 1} />;
  if (name.includes('shadow')) return <span className={classes.swatch} style={{ boxShadow: token }} />;
  return value.startsWith('#') && <span className={classes.swatch} style={{ background: token }} />;
}
