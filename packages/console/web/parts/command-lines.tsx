import { Code, Stack, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';
import classes from './command-lines.module.css';

export interface CommandLine {
  /** `CLI`, `curl`. */
  readonly with: string;
  readonly command: string;
}

/** How to do the same without the console. */
export function CommandLines({ lines }: { readonly lines: readonly CommandLine[] }) {
  return (
    <details className={classes.box}>
      <summary>Commands</summary>
      <Stack gap="xs" mt="xs">
        {lines.map(({ with: tool, command }) => (
          <div key={tool}>
            <Text size="xs" c="dimmed">
              {tool}
            </Text>
            <div className={classes.line}>
              <Code block tabIndex={0}>
                {command}
              </Code>
              <CopyButton icon value={command} label={`Copy the ${tool} command`} />
            </div>
          </div>
        ))}
      </Stack>
    </details>
  );
}
