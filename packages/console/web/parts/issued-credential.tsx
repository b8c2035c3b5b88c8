import { Group, Select, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { makeStale, queryClient } from '../api/queries.ts';
import type { Right } from '../api/rights.ts';
import { send, type Answer, type WrapInfo } from '../api/send.ts';
import { token } from '../api/token.ts';
import { ActionButton } from './action-button.tsx';
import { IssuedPanel, type EndIssued } from './issued-panel.tsx';
import { ServerError } from './server-error.tsx';
import { useAttempt } from './use-attempt.ts';
import { WrappedLink } from './wrapped-link.tsx';

interface IssuedCredentialProps {
  /** The button's text: `Borrow an account`. */
  readonly label: string;
  /** What issues it, encoded: `apiPath(mount, 'creds', role)`. */
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  readonly needs: Right;
  /** Fields of the answer that are no secrets, such as `username`; they are drawn. */
  readonly plain?: readonly string[];
  /** The path takes an idempotency key: a call that got no answer is repeated with the same one, so that no second credential is made. */
  readonly oncePerKey?: boolean;
  /** Paths whose reads the issue and the end make stale. */
  readonly stale?: readonly string[];
  /** It can be read again, as the credential of a static role can: it is not gone when the page forgets it. */
  readonly again?: boolean;
  /** How it is given back, where that is not the end of its lease; null where it cannot be taken back before its time is over. */
  readonly end?: EndIssued | null;
}

type State =
  | { readonly at: 'asked' }
  | { readonly at: 'issued'; readonly answer: Answer }
  | { readonly at: 'wrapped'; readonly wrap: WrapInfo }
  | { readonly at: 'over'; readonly why: string };

const WRAPS = [
  { value: '5m', label: '5 minutes' },
  { value: '30m', label: '30 minutes' },
  { value: '4h', label: '4 hours' },
  { value: '1d', label: '1 day' },
];

/**
 * A credential that is shown once: issued by a click, held in the memory of the page alone, with the time that is left, *renew* and *end now*. Or wrapped: then the
 * console never sees it, and hands out a link that shows it to one person. It goes with its lease, the session and the page.
 */
export function IssuedCredential(props: IssuedCredentialProps) {
  const { label, path, method = 'GET', body, needs, plain = [], oncePerKey = false, stale = [], again = false, end } = props;
  const [state, setState] = useState<State>({ at: 'asked' });
  const { running, error, attempt } = useAttempt<'issue' | 'wrap'>();
  const [wrapTtl, setWrapTtl] = useState('30m');
  const [key, setKey] = useState(newKey);
  useEffect(() => token.subscribe(() => setState({ at: 'asked' })), []);
  const issue = async (how: 'issue' | 'wrap'): Promise<void> => {
    const wrapped = how === 'wrap' ? { wrapTtl } : {};
    const answer = await send(method, path, { body, ...wrapped, ...(oncePerKey ? { idempotencyKey: key } : {}) });
    setState(answer.wrapInfo ? { at: 'wrapped', wrap: answer.wrapInfo } : { at: 'issued', answer });
    setKey(newKey());
    await makeStale(queryClient, stale);
  };
  const over = (why: string): void => {
    setState({ at: 'over', why });
    void makeStale(queryClient, stale);
  };
  if (state.at === 'issued') return <IssuedPanel answer={state.answer} plain={plain} again={again} end={end} over={over} />;
  if (state.at === 'wrapped') return <WrappedLink wrap={state.wrap} over={over} />;
  return (
    <Stack gap="sm" align="flex-start">
      {state.at === 'over' && (
        <Text role="status" size="sm">
          {state.why}
        </Text>
      )}
      <Group align="flex-end" gap="xs">
        <ActionButton needs={needs} loading={running === 'issue'} onClick={() => void attempt(async () => issue('issue'), 'issue')}>
          {label}
        </ActionButton>
        <ActionButton
          needs={needs}
          variant="default"
          loading={running === 'wrap'}
          onClick={() => void attempt(async () => issue('wrap'), 'wrap')}
        >
          Wrap instead
        </ActionButton>
        <Select
          size="xs"
          aria-label="How long the link can be opened"
          data={WRAPS}
          value={wrapTtl}
          allowDeselect={false}
          onChange={(value) => setWrapTtl(value ?? '30m')}
        />
      </Group>
      <Text size="xs" c="dimmed">
        {again ? '' : 'It is shown here once. '}Wrapped, it becomes a link that opens once, for somebody else; this page never sees it.
      </Text>
      {error && <ServerError error={error} again={() => void attempt(async () => issue('issue'), 'issue')} />}
    </Stack>
  );
}

/** `crypto.randomUUID` exists in secure contexts alone. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
