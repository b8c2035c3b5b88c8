import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Explanation } from '../../api/explanation.ts';
import { send } from '../../api/send.ts';
import { ExplanationView } from '../../parts/explanation.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { CallFields } from './call-fields.tsx';

interface Answered {
  readonly explanation: Explanation;
  readonly warnings: readonly string[];
  readonly draft: string;
}

/** Asks what the text in the editor would decide if it were saved under this name. */
export function TryDraft({ draft, name }: { readonly draft: string; readonly name: string }) {
  const [call, setCall] = useState({ path: '', operation: 'read' });
  const [policies, setPolicies] = useState('');
  const [answered, setAnswered] = useState<Answered>();
  const { busy, error, attempt } = useAttempt();
  const ask = async (): Promise<void> => {
    setAnswered(undefined);
    const body = { ...call, draft, name, ...(policies.trim() === '' ? {} : { policies }) };
    const { data, warnings } = await send<Explanation>('POST', 'sys/policies/explain', { body });
    setAnswered({ explanation: data, warnings, draft });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(ask);
      }}
    >
      <Stack gap="xs">
        <CallFields call={call} onChange={setCall} />
        <TextInput
          label="Together with policies"
          placeholder="none: the text alone"
          value={policies}
          onChange={(event) => setPolicies(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" size="xs" variant="default" loading={busy}>
            Try
          </Button>
        </div>
        <div aria-live="polite">
          {error && <ServerError error={error} />}
          {answered && answered.draft !== draft && <Text size="sm">The text has changed since this answer.</Text>}
          {answered?.warnings.map((warning) => (
            <Text key={warning} size="sm">
              {warning}
            </Text>
          ))}
          {answered && <ExplanationView explanation={answered.explanation} draft={name} />}
        </div>
      </Stack>
    </form>
  );
}
