import { Code, Stack, Text } from '@mantine/core';

/** Statements in order, each as it is sent. */
export function Statements({ label, statements }: { readonly label: string; readonly statements: readonly string[] }) {
  if (statements.length === 0) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {statements.map((statement, at) => (
        <Code key={at} block tabIndex={0}>
          {statement}
        </Code>
      ))}
    </Stack>
  );
}
