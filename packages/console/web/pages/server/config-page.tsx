import { Code, Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerFrame } from './server-frame.tsx';

/** The configuration as this server was started with it, without secrets. */
export default function ConfigPage() {
  const config = useRead('sys/config/state/sanitized');
  const text = JSON.stringify(config.data?.data ?? {}, null, 2);
  return (
    <ServerFrame title="Configuration" place="/server/config" actions={config.data && <CopyButton value={text} label="Copy" />}>
      <Text size="sm" c="dimmed" mb="sm">
        As this server was started, without secrets. It changes by its file and a restart.
      </Text>
      <Loaded query={config}>
        {({ data }) =>
          Object.keys(data).length === 0 ? (
            <Empty>This server was started without a configuration.</Empty>
          ) : (
            <Code block tabIndex={0} role="region" aria-label="Configuration">
              {text}
            </Code>
          )
        }
      </Loaded>
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom read -format=json sys/config/state/sanitized' }]} />
    </ServerFrame>
  );
}
