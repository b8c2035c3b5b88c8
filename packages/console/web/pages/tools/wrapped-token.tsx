import { Alert, Group, Stack, Text } from '@mantine/core';
import type { WrapInfo } from '../../api/send.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { SecretValue } from '../../parts/secret-value.tsx';
import { When } from '../../parts/when.tsx';

/** A new wrapping token, and a link that brings somebody to the page that unwraps it. */
export function WrappedToken({ wrapped }: { readonly wrapped: WrapInfo }) {
  const link = (): string => `${location.origin}/ui/tools/unwrap#${wrapped.token}`;
  return (
    <Stack>
      <Alert color="blue" variant="light" title="Shown once">
        Send the link or the token to the person who is to have the data. It works once, and nobody can make it again.
      </Alert>
      <Group gap="xs">
        <CopyButton secret value={link} label="Copy the link" />
        <CopyButton secret value={wrapped.token} label="Copy the token" />
      </Group>
      <Facts
        facts={[
          { label: 'Token', value: <SecretValue label="token" value={wrapped.token} /> },
          { label: 'Ends', value: <When time={new Date(wrapped.creation_time).getTime() + wrapped.ttl * 1_000} /> },
          {
            label: 'Made at',
            value: (
              <Text span ff="monospace">
                {wrapped.creation_path}
              </Text>
            ),
          },
          {
            label: 'Accessor',
            value: (
              <Text span ff="monospace">
                {wrapped.accessor}
              </Text>
            ),
          },
        ]}
      />
    </Stack>
  );
}
