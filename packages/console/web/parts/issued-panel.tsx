import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Right } from '../api/rights.ts';
import { send, type Answer } from '../api/send.ts';
import { ActionButton } from './action-button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Countdown } from './countdown.tsx';
import { Facts, type Fact } from './facts.tsx';
import classes from './issued-panel.module.css';
import { SecretValue } from './secret-value.tsx';
import { ServerError } from './server-error.tsx';
import { useAttempt } from './use-attempt.ts';

/** How a credential is given back. */
export interface EndIssued {
  /** `Return the account`. */
  readonly label: string;
  readonly needs: Right;
  readonly act: (answer: Answer) => Promise<unknown>;
}

interface IssuedPanelProps {
  readonly answer: Answer;
  /** Fields that are no secrets. */
  readonly plain: readonly string[];
  /** Secrets that are a PNG in base64. */
  readonly pictures?: readonly string[];
  /** It can be read again. */
  readonly again: boolean;
  readonly end: EndIssued | null | undefined;
  /** It is on the page no longer. */
  readonly over: (why: string) => void;
}

/** Milliseconds after which a credential leaves the page, its lease or not. */
const SHOWN_AT_MOST = 15 * 60_000;

const END_LEASE: EndIssued = {
  label: 'End now',
  needs: { path: 'sys/leases/revoke', need: 'update' },
  act: async ({ leaseId }) => send('PUT', 'sys/leases/revoke', { body: { lease_id: leaseId, sync: true } }),
};

/** A credential that was issued a moment ago. Only the plain fields are drawn; the others are hidden until somebody asks. */
export function IssuedPanel({ answer, plain, pictures = [], again, end, over }: IssuedPanelProps) {
  const { leaseId } = answer;
  const leaves = useRef(Date.now() + SHOWN_AT_MOST);
  const [until, setUntil] = useState(() => Date.now() + answer.leaseDuration * 1000);
  const [warnings, setWarnings] = useState(answer.warnings);
  const [asking, setAsking] = useState(false);
  const { running, error, attempt } = useAttempt<'renew' | 'end'>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => over('It left this page after 15 minutes.'), leaves.current - Date.now());
    return () => clearTimeout(timer);
  }, [over]);
  const ended = useCallback(() => over('Its time is over.'), [over]);
  const giveBack = end === undefined && leaseId !== '' ? END_LEASE : end;
  const renew = async (): Promise<void> => {
    const renewed = await send('PUT', 'sys/leases/renew', { body: { lease_id: leaseId } });
    setUntil(Date.now() + renewed.leaseDuration * 1000);
    setWarnings(renewed.warnings);
  };
  return (
    <section className={classes.panel} aria-labelledby="issued-title">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4" id="issued-title" ref={heading} tabIndex={-1}>
            {again ? 'The current credential' : 'Shown once'}
          </Title>
          {answer.leaseDuration > 0 && leaseId !== '' && (
            <Text size="sm" className={classes.left}>
              <Countdown key={until} until={until} over={ended} />
            </Text>
          )}
        </Group>
        <Facts
          facts={[
            ...Object.entries(answer.data).map(([name, value]) => factOf(name, value, { plain, pictures })),
            leaseId !== '' && leaseFact(leaseId),
          ]}
        />
        {warnings.map((warning) => (
          <Text key={warning} size="sm" className={classes.warning}>
            {warning}
          </Text>
        ))}
        {end === null && <Text size="sm">It ends by itself: nobody can take it back before its time is over.</Text>}
        {error && <ServerError error={error} />}
        <Group gap="xs">
          {leaseId !== '' && answer.renewable && (
            <ActionButton
              variant="default"
              needs={{ path: 'sys/leases/renew', need: 'update' }}
              loading={running === 'renew'}
              onClick={() => void attempt(renew, 'renew')}
            >
              Renew
            </ActionButton>
          )}
          {giveBack && (
            <ActionButton
              color="red"
              variant="light"
              needs={giveBack.needs}
              loading={running === 'end'}
              onClick={() =>
                void attempt(async () => {
                  await giveBack.act(answer);
                  over('It has ended: nobody can use it any more.');
                }, 'end')
              }
            >
              {giveBack.label}
            </ActionButton>
          )}
          {asking ? (
            <>
              <Text size="sm">It cannot be shown again.</Text>
              <Button
                size="xs"
                data-autofocus
                autoFocus
                variant="default"
                onClick={() => over(`It is on this page no longer${leaseId === '' ? '' : ', and works until its lease ends'}.`)}
              >
                Dismiss it
              </Button>
              <Button size="xs" variant="subtle" onClick={() => setAsking(false)}>
                Keep it
              </Button>
            </>
          ) : (
            <Button size="xs" variant="subtle" onClick={() => (again ? over('It is on this page no longer.') : setAsking(true))}>
              Dismiss
            </Button>
          )}
        </Group>
      </Stack>
    </section>
  );
}

function leaseFact(leaseId: string): Fact {
  return { label: 'Lease', value: leaseId };
}

function factOf(
  name: string,
  value: unknown,
  { plain, pictures }: Required<Pick<IssuedPanelProps, 'plain' | 'pictures'>>,
): Fact | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  if (!plain.includes(name)) return { label: name, value: <SecretValue label={name} value={text} picture={pictures.includes(name)} /> };
  return {
    label: name,
    value: (
      <Group gap={6} wrap="nowrap" className={classes.plain}>
        <span>{text}</span>
        <CopyButton icon value={text} label={`Copy ${name}`} />
      </Group>
    ),
  };
}
