import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import type { ApiError } from '../api/api-error.ts';
import { CopyButton } from './copy-button.tsx';
import { Why } from './why.tsx';

interface ServerErrorProps {
  readonly error: ApiError;
  readonly again?: () => void;
}

/** An error beside its cause: everything the server said as it came, and what a ticket needs. */
export function ServerError({ error, again }: ServerErrorProps) {
  const sentences = error.errors.length > 0 ? error.errors : [sentenceFor(error.status)];
  const ticket = [
    `${error.method} /v1/${error.path}`,
    `${error.status}`,
    error.at.toISOString(),
    error.requestId ?? 'no request id',
    ...sentences,
  ].join('\n');
  return (
    <Alert role="alert" color="red" variant="light" title={titleOf(error.status)}>
      <Stack gap="xs">
        {sentences.map((sentence, at) => (
          <Text key={at} size="sm">
            {sentence}
          </Text>
        ))}
        {error.status !== 0 && (
          <Text size="xs" c="dimmed">
            {error.status} · <Code>{`${error.method} ${error.path}`}</Code>
            {error.requestId && <> · request {error.requestId}</>}
          </Text>
        )}
        {error.status === 403 && <Why error={error} />}
        <Group gap="xs">
          {again && (
            <Button size="xs" variant="default" onClick={again}>
              Try again
            </Button>
          )}
          <CopyButton value={ticket} label="Copy for a ticket" />
        </Group>
      </Stack>
    </Alert>
  );
}

/** For answers that have no sentence of their own. */
function sentenceFor(status: number): string {
  if (status === 404) return 'There is nothing at this path, or the token may not see it.';
  return `The server answered ${status} without a sentence.`;
}

function titleOf(status: number): string {
  if (status === 0) return 'No connection';
  if (status === 403) return 'The token may not do this';
  if (status === 404) return 'Not found';
  if (status === 429) return 'Too many requests';
  if (status === 503) return 'The server is not ready';
  return status < 500 ? 'The server refused this' : 'The server could not do this';
}
