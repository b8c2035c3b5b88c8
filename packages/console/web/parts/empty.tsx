import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A place with nothing in it: one sentence that says what belongs here, and one action. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <Stack align="flex-start" gap="sm" py="md">
      <Text c="dimmed">{children}</Text>
      {action}
    </Stack>
  );
}
