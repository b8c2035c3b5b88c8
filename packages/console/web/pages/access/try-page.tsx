import { Button, NativeSelect, PasswordInput, Text, TextInput, Textarea } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Explanation } from '../../api/explanation.ts';
import { send } from '../../api/send.ts';
import { ExplanationView } from '../../parts/explanation.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { To } from '../../parts/to.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { AccessPlaces } from './access-places.tsx';
import classes from './access.module.css';
import { CallFields } from './call-fields.tsx';

const WHOSE = [
  { value: 'mine', label: 'My token' },
  { value: 'accessor', label: 'By accessor' },
  { value: 'token', label: 'Another token' },
  { value: 'policies', label: 'Policies' },
  { value: 'draft', label: 'Draft' },
] as const;
type Whose = (typeof WHOSE)[number]['value'];

interface Answered {
  readonly explanation: Explanation;
  readonly warnings: readonly string[];
  readonly draft: string | undefined;
}

/** Why a call with a token, with policies or with a draft would be allowed or refused. */
export default function TryPage() {
  const { search } = usePlace();
  const go = useGo();
  const [whose, setWhose] = useState<Whose>(search.accessor === undefined ? 'mine' : 'accessor');
  const [call, setCall] = useState({ path: search.path ?? '', operation: search.operation ?? 'read' });
  const [subject, setSubject] = useState(search.accessor ?? '');
  const [draft, setDraft] = useState('');
  const [name, setName] = useState('');
  const [answered, setAnswered] = useState<Answered>();
  const { busy, error, attempt } = useAttempt();

  const ask = async (): Promise<void> => {
    setAnswered(undefined);
    const body = {
      mine: call,
      accessor: { ...call, accessor: subject },
      token: { ...call, token: subject },
      policies: { ...call, policies: subject },
      draft: { ...call, draft, ...(subject === '' ? {} : { policies: subject }), ...(name === '' ? {} : { name }) },
    }[whose];
    const answer = await send<Explanation>('POST', `sys/policies/explain${whose === 'mine' ? '-self' : ''}`, { body });
    setAnswered({
      explanation: answer.data,
      warnings: answer.warnings,
      draft: whose === 'draft' ? name.toLowerCase() || 'draft' : undefined,
    });
  };

  useEffect(() => {
    if (search.path && search.accessor === undefined) void attempt(ask);
    // Asks once for the path of the address; later questions are asked by the form.
  }, []);

  return (
    <Page title="Try a path">
      <AccessPlaces at="Try a path" />
      <Text size="sm" c="dimmed" mb="md">
        Nothing is called: the server only says what its policies would decide.{' '}
        <To to="/access/who" search={{ path: call.path || undefined, operation: call.operation }}>
          Who may do this?
        </To>
      </Text>
      <form
        className={classes.question}
        onSubmit={(event) => {
          event.preventDefault();
          go('/access/try', {}, { ...call }, { replace: true });
          void attempt(ask);
        }}
      >
        <NativeSelect
          className={classes.wide ?? ''}
          label="Whose call"
          data={[...WHOSE]}
          value={whose}
          onChange={(event) => {
            setWhose(event.currentTarget.value as Whose);
            setSubject('');
          }}
        />
        {whose === 'accessor' && (
          <TextInput
            className={classes.wide ?? ''}
            label="Accessor of the token"
            value={subject}
            onChange={(event) => setSubject(event.currentTarget.value)}
            required
          />
        )}
        {whose === 'token' && (
          <PasswordInput
            className={classes.wide ?? ''}
            label="Token"
            autoComplete="off"
            value={subject}
            onChange={(event) => setSubject(event.currentTarget.value)}
            required
          />
        )}
        {whose === 'draft' && (
          <>
            <Textarea
              className={classes.wide ?? ''}
              label="Draft"
              description="A policy that is not saved"
              autosize
              minRows={5}
              maxRows={20}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
              spellCheck={false}
              value={draft}
              onChange={(event) => setDraft(event.currentTarget.value)}
              required
            />
            <TextInput
              className={classes.wide ?? ''}
              label="Stands in for the saved policy"
              placeholder="none: judged alone, or beside the policies below"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          </>
        )}
        {(whose === 'policies' || whose === 'draft') && (
          <TextInput
            className={classes.wide ?? ''}
            label={whose === 'draft' ? 'Together with the policies' : 'Policies'}
            placeholder="default, dev"
            value={subject}
            onChange={(event) => setSubject(event.currentTarget.value)}
            required={whose === 'policies'}
          />
        )}
        <CallFields call={call} onChange={setCall} />
        <Button type="submit" loading={busy}>
          Try
        </Button>
      </form>
      <div aria-live="polite">
        {error && <ServerError error={error} />}
        {answered && (
          <section className={classes.result} aria-label="Answer">
            {answered.warnings.map((warning) => (
              <Text key={warning} size="sm" mb="xs">
                {warning}
              </Text>
            ))}
            <ExplanationView explanation={answered.explanation} draft={answered.draft} />
          </section>
        )}
      </div>
    </Page>
  );
}
