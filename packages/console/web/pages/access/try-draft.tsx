import { NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { OPERATIONS, type Explanation } from '../../api/explanation.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ExplanationView } from '../../parts/explanation.tsx';
import { ServerError } from '../../parts/server-error.tsx';

interface Answered {
  readonly explanation: Explanation;
  readonly warnings: readonly string[];
  readonly draft: string;
}

/** Asks what the text in the editor would decide if it were saved under this name. */
export function TryDraft({ draft, name }: { readonly draft: string; readonly name: string }) {
  const [path, setPath] = useState('');
  const [operation, setOperation] = useState('read');
  const [policies, setPolicies] = useState('');
  const [answered, setAnswered] = useState<Answered>();
  const [error, setError] = useState<ApiError>();
  const ask = async (): Promise<void> => {
    const body = { path, operation, draft, name, ...(policies.trim() === '' ? {} : { policies }) };
    try {
      const { data, warnings } = await send<Explanation>('POST', 'sys/policies/explain', { body });
      setError(undefined);
      setAnswered({ explanation: data, warnings, draft });
    } catch (caught) {
      setAnswered(undefined);
      setError(caught as ApiError);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <Stack gap="xs">
        <TextInput
          label="Path"
          placeholder="secret/data/team/key"
          spellCheck={false}
          autoComplete="off"
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
          required
        />
        <NativeSelect
          label="Operation"
          data={[...OPERATIONS]}
          value={operation}
          onChange={(event) => setOperation(event.currentTarget.value)}
        />
        <TextInput
          label="Together with policies"
          placeholder="none: the text alone"
          value={policies}
          onChange={(event) => setPolicies(event.currentTarget.value)}
        />
        <div>
          <ActionButton type="submit" variant="default" needs={{ path: 'sys/policies/explain', need: ['update', 'create'] }}>
            Try
          </ActionButton>
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
