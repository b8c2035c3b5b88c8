import { Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { makeStale } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { useQueryClient } from '@tanstack/react-query';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { When } from '../../parts/when.tsx';
import { Section } from './section.tsx';

interface KeyStatus {
  readonly term: number;
  readonly install_time: string;
  readonly encryptions: number;
}

interface RotationConfig {
  readonly enabled: boolean;
  readonly max_operations: number;
  readonly interval: string | number;
}

/** The key that encrypts the store, and when it is replaced. */
export function EncryptionKey() {
  const key = useRead<KeyStatus>('sys/key-status');
  const rotation = useRead<RotationConfig>('sys/rotate/config');
  const client = useQueryClient();
  const rotate = async (): Promise<void> => {
    await send('POST', 'sys/rotate');
    await makeStale(client, ['sys/key-status']);
  };
  const rotateRoot = async (): Promise<void> => void (await send('POST', 'sys/rotate/root'));
  return (
    <Section
      title="Encryption key"
      actions={
        <>
          <ConfirmAction
            label="Rotate the root key"
            color="blue"
            needs={{ path: 'sys/rotate/root', need: 'update', sudo: true }}
            act={rotateRoot}
          >
            <Text size="sm">The key that encrypts the encryption keys is replaced. The shares stay good.</Text>
          </ConfirmAction>
          <ConfirmAction label="Rotate the key" color="blue" needs={{ path: 'sys/rotate', need: 'update', sudo: true }} act={rotate}>
            <Text size="sm">What is written from now on uses a new key. What was written stays readable, and the shares stay good.</Text>
          </ConfirmAction>
        </>
      }
    >
      <Loaded query={key}>
        {({ data }) => (
          <Facts
            facts={[
              { label: 'Term', value: data.term },
              { label: 'Since', value: <When time={data.install_time} /> },
              { label: 'Encryptions', value: data.encryptions.toLocaleString() },
              rotation.data && { label: 'Rotates by itself', value: automatic(rotation.data.data) },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function automatic({ enabled, max_operations, interval }: RotationConfig): string {
  if (!enabled) return 'no';
  const time = interval === 0 || interval === '0' || interval === '0s' ? '' : `, and every ${interval}`;
  return `after ${max_operations.toLocaleString()} encryptions${time}`;
}
