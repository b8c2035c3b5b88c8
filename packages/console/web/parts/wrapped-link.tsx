import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { WrapInfo } from '../api/send.ts';
import { Countdown } from './countdown.tsx';
import { SecretValue } from './secret-value.tsx';
import classes from './issued-panel.module.css';

interface WrappedLinkProps {
  readonly wrap: WrapInfo;
  /** It is on the page no longer. */
  readonly over: (why: string) => void;
}

/** A link that shows a wrapped answer once. The token stands behind `#`, which browsers send to no server. */
export function WrappedLink({ wrap, over }: WrappedLinkProps) {
  const [until] = useState(() => Date.now() + wrap.ttl * 1000);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const ended = useCallback(() => over('The link can be opened no longer.'), [over]);
  const link = `${location.origin}/ui/tools/unwrap#${wrap.token}`;
  return (
    <section className={classes.panel} aria-labelledby="wrapped-title">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4" id="wrapped-title" ref={heading} tabIndex={-1}>
            Wrapped
          </Title>
          <Text size="sm" className={classes.left}>
            <Countdown until={until} over={ended} />
          </Text>
        </Group>
        <Text size="sm">Whoever opens the link first sees the credential. Send it to one person.</Text>
        <SecretValue label="link" value={link} />
        <SecretValue label="wrapping token" value={wrap.token} />
        <Group>
          <Button size="xs" variant="default" onClick={() => over('The link is on this page no longer. It can still be opened.')}>
            Done
          </Button>
        </Group>
      </Stack>
    </section>
  );
}
