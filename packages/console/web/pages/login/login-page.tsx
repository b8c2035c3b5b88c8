import { Button, PasswordInput, Stack, Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { send } from '../../api/send.ts';
import { beginSession } from '../../app/session.ts';
import { ServerError } from '../../parts/server-error.tsx';
import classes from './login.module.css';

/** Login with a token. */
export default function LoginPage() {
  const [value, setValue] = useState('');
  const [error, setError] = useState<ApiError>();
  const navigate = useNavigate();
  const { to } = useSearch({ strict: false }) as { to?: string };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      await send('GET', 'auth/token/lookup-self', { token: value });
      beginSession(value);
      await navigate({ href: to?.startsWith('/') ? to : '/' });
    } catch (caught) {
      if (caught instanceof ApiError) setError(caught);
      else throw caught;
    }
  };
  return (
    <main className={classes.main}>
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <Stack>
          <Title order={1} size="h3">
            Log in to Strongroom
          </Title>
          <PasswordInput
            label="Token"
            autoComplete="off"
            autoFocus
            value={value}
            onChange={({ currentTarget }) => setValue(currentTarget.value)}
          />
          {error && <ServerError error={error} />}
          <Button type="submit" disabled={value === ''}>
            Log in
          </Button>
        </Stack>
      </form>
    </main>
  );
}
