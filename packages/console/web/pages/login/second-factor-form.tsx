import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { ServerError } from '../../parts/server-error.tsx';
import { giveFactors, type Factor, type LoginAnswer, type SecondFactor } from './send-login.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

interface SecondFactorFormProps {
  readonly factor: SecondFactor;
  readonly accept: (answer: LoginAnswer) => Promise<void>;
  /** Back to the first step. */
  readonly again: () => void;
}

/** The second step of a login: of every enforcement, one of its methods. */
export function SecondFactorForm({ factor, accept, again }: SecondFactorFormProps) {
  const constraints = Object.entries(factor.mfa_constraints);
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const [codes, setCodes] = useState<Readonly<Record<string, string>>>({});
  const { busy, error, attempt } = useAttempt();
  const factorOf = (name: string, any: readonly Factor[]): Factor => any.find(({ id }) => id === chosen[name]) ?? any[0]!;
  const wanted = constraints.map(([name, { any }]) => factorOf(name, any));
  const missing = wanted.some(({ id, uses_passcode }) => uses_passcode && (codes[id] ?? '').trim() === '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      try {
        const given = Object.fromEntries(wanted.map(({ id }) => [id, (codes[id] ?? '').trim()]));
        await accept(await giveFactors(factor.mfa_request_id, given));
      } finally {
        setCodes({});
      }
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">This login needs a second factor.</Text>
        {constraints.map(([name, { any }], at) => {
          const current = factorOf(name, any);
          return (
            <Stack key={name} gap="xs">
              {any.length > 1 && (
                <Radio.Group label={`Method for ${name}`} value={current.id} onChange={(id) => setChosen({ ...chosen, [name]: id })}>
                  <Stack gap={6} mt={6}>
                    {any.map(({ id, type, name: label }) => (
                      <Radio key={id} value={id} label={label === '' ? type : `${label} (${type})`} />
                    ))}
                  </Stack>
                </Radio.Group>
              )}
              {current.uses_passcode ? (
                <TextInput
                  label={`Code of ${current.name === '' ? current.type : current.name}`}
                  inputMode="numeric"
                  autoComplete="one-time-code"
                  autoFocus={at === 0}
                  value={codes[current.id] ?? ''}
                  onChange={({ currentTarget }) => setCodes({ ...codes, [current.id]: currentTarget.value })}
                />
              ) : (
                <Text size="sm">{`Confirm on your device: ${current.name === '' ? current.type : current.name}.`}</Text>
              )}
            </Stack>
          );
        })}
        {error && <ServerError error={error} />}
        <Group grow>
          <Button variant="default" onClick={again}>
            Back
          </Button>
          <Button type="submit" loading={busy} disabled={missing}>
            Log in
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
