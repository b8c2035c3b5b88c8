import { Code, Stack, Text } from '@mantine/core';
import classes from './fingerprints.module.css';

/** The PGP keys that the new shares are encrypted to, for each keyholder to compare with their own. */
export function Fingerprints({ list, backup }: { readonly list: readonly string[]; readonly backup: boolean }) {
  return (
    <Stack gap={4}>
      <Text size="sm">
        {`The new shares are encrypted to these PGP keys, in this order${backup ? ', and a copy stays in the store' : ''}. Compare them with your own:`}
      </Text>
      <ol className={classes.list}>
        {list.map((fingerprint, at) => (
          <li key={at}>
            <Code>{fingerprint}</Code>
          </li>
        ))}
      </ol>
    </Stack>
  );
}
