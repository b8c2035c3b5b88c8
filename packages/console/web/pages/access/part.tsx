import { Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of a page below its own heading. */
export function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <Title order={2} size="h4" mt="lg" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  );
}
