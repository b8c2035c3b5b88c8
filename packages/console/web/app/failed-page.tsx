import { Button, Text } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ApiError } from '../api/api-error.ts';
import { Page } from '../parts/page.tsx';
import { ServerError } from '../parts/server-error.tsx';

/** What is shown when a page itself fails. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  if (error instanceof ApiError) {
    return (
      <Page title="This page could not be loaded">
        <ServerError error={error} again={reset} />
      </Page>
    );
  }
  return (
    <Page title="This page failed">
      <Text>{error instanceof Error ? error.message : String(error)}</Text>
      <Button mt="md" onClick={() => location.reload()}>
        Load it again
      </Button>
    </Page>
  );
}
