import { Code, Group } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { curlOf, shellWord } from './commands.ts';
import { dataPath, metadataPath } from './kv-mount.ts';
import type { SecretPart } from './secret.ts';

/** How programs, command lines and policies name the secret. */
export default function Paths({ mount, secret, version }: SecretPart & { readonly version: number | undefined }) {
  const data = dataPath(mount, secret);
  const names = `-mount=${shellWord(mount.path)} ${shellWord(secret)}`;
  const paths = [
    { label: mount.version === 2 ? 'Values' : 'API', path: data },
    ...(mount.version === 2 ? [{ label: 'Metadata', path: metadataPath(mount, secret) }] : []),
  ];
  const rule = `path ${JSON.stringify(data)} {\n    capabilities = ["read"]\n}`;
  return (
    <>
      <Facts
        facts={[
          ...paths.map(({ label, path }) => ({
            label,
            value: (
              <Group gap={6} wrap="nowrap">
                <Code>/v1/{apiPath(path)}</Code>
                <CopyButton icon value={`/v1/${apiPath(path)}`} label={`Copy the path of ${label.toLowerCase()}`} />
              </Group>
            ),
          })),
          {
            label: 'Rule that allows reading',
            value: (
              <Group gap={6} wrap="nowrap" align="flex-start">
                <Code block tabIndex={0}>
                  {rule}
                </Code>
                <CopyButton icon value={rule} label="Copy the rule" />
              </Group>
            ),
          },
        ]}
      />
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom kv get ${version === undefined ? '' : `-version=${version} `}${names}` },
          { with: 'CLI, one value', command: `strongroom kv get -field=KEY ${names}` },
          {
            with: 'CLI, write',
            command: mount.version === 2 ? `strongroom kv put -cas=VERSION ${names} KEY=@file` : `strongroom kv put ${names} KEY=@file`,
          },
          { with: 'curl', command: curlOf('GET', `${apiPath(data)}${version === undefined ? '' : `?version=${version}`}`) },
        ]}
      />
    </>
  );
}
