import { Text } from '@mantine/core';

/** Texts by name, one `key=value` a line. Nothing where there are none. */
export function PairsText({ pairs }: { readonly pairs: Readonly<Record<string, string>> | null | undefined }) {
  const lines = Object.entries(pairs ?? {}).map(([key, value]) => `${key}=${value}`);
  return lines.length === 0 ? null : <Text style={{ whiteSpace: 'pre-line' }}>{lines.join('\n')}</Text>;
}
