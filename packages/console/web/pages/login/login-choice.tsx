import { Select, Stack, Tabs, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useConsoleSettings } from '../../api/console-settings.ts';
import { useRead } from '../../api/queries.ts';
import { Loaded } from '../../parts/loaded.tsx';
import classes from './login-choice.module.css';
import { LoginForm } from './login-form.tsx';
import { KINDS, methodAt, methodName, mountName, TOKEN, type LoginMethod } from './login-method.ts';

interface LoginChoiceProps {
  /** The mount to offer first: `auth/corp`. */
  readonly first?: string | undefined;
  readonly to: string;
  readonly done: () => void;
  readonly inPlace?: boolean;
}

const OTHER = 'other';

/** Every way to log in, each on a tab: what the server lists, the token, and mounts that it does not list. */
export function LoginChoice({ first, to, done, inPlace = false }: LoginChoiceProps) {
  const methods = useRead<{ methods: readonly LoginMethod[] }>('sys/internal/ui/login-methods', { open: true });
  const { default_method } = useConsoleSettings();
  // A server that has no such list still takes tokens.
  if (methods.error) return <Choices listed={[]} first={first ?? default_method} {...{ to, done, inPlace }} />;
  return (
    <Loaded query={methods}>
      {({ data }) => <Choices listed={data.methods} first={first ?? default_method} {...{ to, done, inPlace }} />}
    </Loaded>
  );
}

function Choices({ listed, first, to, done, inPlace = false }: LoginChoiceProps & { readonly listed: readonly LoginMethod[] }) {
  const methods = [...listed.filter(({ path }) => path !== 'token/'), TOKEN];
  const wanted = mountName(first ?? '');
  const known = methods.find(({ path }) => mountName(path) === wanted);
  const [tab, setTab] = useState(known?.path ?? (wanted === '' ? methods[0]!.path : OTHER));
  return (
    <Tabs value={tab} onChange={(next) => setTab(next ?? tab)} keepMounted={false} activateTabWithKeyboard={false}>
      <Tabs.List mb="md" className={classes.tabs} aria-label="Ways to log in">
        {methods.map((method) => (
          <Tabs.Tab key={method.path} value={method.path}>
            {methodName(method)}
          </Tabs.Tab>
        ))}
        <Tabs.Tab value={OTHER}>Other…</Tabs.Tab>
      </Tabs.List>
      {methods.map((method) => (
        <Tabs.Panel key={method.path} value={method.path}>
          {method.description !== '' && <p className={classes.about}>{method.description}</p>}
          <LoginForm {...{ method, to, done, inPlace }} />
        </Tabs.Panel>
      ))}
      <Tabs.Panel value={OTHER}>
        <OtherMethod mount={known ? '' : wanted} {...{ to, done, inPlace }} />
      </Tabs.Panel>
    </Tabs>
  );
}

/** A mount that the server does not list to strangers: its path and its kind are the person's to know. */
function OtherMethod({
  mount: asked,
  to,
  done,
  inPlace,
}: {
  readonly mount: string;
  readonly to: string;
  readonly done: () => void;
  readonly inPlace: boolean;
}) {
  const [mount, setMount] = useState(asked);
  const [label, setLabel] = useState(KINDS[0]!.label);
  const kind = KINDS.find((one) => one.label === label)!;
  const method = mountName(mount) === '' ? undefined : methodAt(mount, kind);
  return (
    <Stack>
      <TextInput
        label="Mount path"
        description="As in auth/<path>. Ask your operator."
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={mount}
        onChange={({ currentTarget }) => setMount(currentTarget.value)}
      />
      <Select
        label="Kind"
        data={KINDS.map((one) => one.label)}
        value={label}
        allowDeselect={false}
        onChange={(next) => next !== null && setLabel(next)}
      />
      {method && <LoginForm key={label} {...{ method, to, done }} inPlace={inPlace} />}
    </Stack>
  );
}
