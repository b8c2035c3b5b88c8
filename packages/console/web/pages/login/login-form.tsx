import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState, type FormEvent } from 'react';
import { beginSession } from '../../app/session.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { DeclaredFields, type Values } from './declared-fields.tsx';
import { sendLogin, type LoginAnswer, type SecondFactor } from './send-login.ts';
import type { LoginMethod } from './login-method.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

const OidcForm = lazy(async () => ({ default: (await import('./oidc-form.tsx')).OidcForm }));
const SecondFactorForm = lazy(async () => ({ default: (await import('./second-factor-form.tsx')).SecondFactorForm }));

interface LoginFormProps {
  readonly method: LoginMethod;
  /** The page to open afterwards, for logins that leave this one on their way. */
  readonly to: string;
  readonly done: () => void;
  /** The login covers a page with drafts, so that it must not be left: no login in the same tab. */
  readonly inPlace?: boolean;
}

/** One method's way to a session: its form, the identity provider, and a second factor where one is asked for. */
export function LoginForm({ method, to, done, inPlace = false }: LoginFormProps) {
  const [factor, setFactor] = useState<SecondFactor>();
  const accept = async (answer: LoginAnswer): Promise<void> => {
    if ('factor' in answer) {
      setFactor(answer.factor);
      return;
    }
    await beginSession(answer.auth.client_token, { method: method.path }, answer.auth);
    done();
  };
  if (factor) {
    return (
      <Suspense fallback={null}>
        <SecondFactorForm factor={factor} accept={accept} again={() => setFactor(undefined)} />
      </Suspense>
    );
  }
  if (method.flow === 'token') return <TokenForm done={done} />;
  if (method.flow === 'oidc') {
    return (
      <Suspense fallback={null}>
        <OidcForm method={method} to={to} accept={accept} inPlace={inPlace} />
      </Suspense>
    );
  }
  return <FieldsForm method={method} accept={accept} />;
}

type Accept = (answer: LoginAnswer) => Promise<void>;

function TokenForm({ done }: { readonly done: () => void }) {
  const [value, setValue] = useState('');
  const { busy, error, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      await beginSession(value.trim(), { method: 'token' });
      done();
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          label="Token"
          autoComplete="off"
          autoFocus
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy} disabled={value.trim() === ''}>
          Log in
        </Button>
      </Stack>
    </form>
  );
}

function FieldsForm({ method, accept }: { readonly method: LoginMethod; readonly accept: Accept }) {
  const [values, setValues] = useState<Values>({});
  const { busy, error, attempt } = useAttempt();
  const { properties, required } = method.form;
  const missing = required.some((name) => (values[name] ?? properties[name]?.default ?? '') === '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => accept(await sendLogin(method, values)));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {method.flow === 'cert' && (
          <Text size="sm" c="dimmed">
            Your browser shows its client certificate to the server. If it has several, it asks which one.
          </Text>
        )}
        <DeclaredFields properties={properties} required={required} values={values} onChange={setValues} />
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy} disabled={missing}>
          Log in
        </Button>
      </Stack>
    </form>
  );
}
