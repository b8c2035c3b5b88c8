import { Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Right } from '../api/rights.ts';
import { ActionButton } from './action-button.tsx';

interface NewByNameProps {
  /** `Name of the new role`. */
  readonly label: string;
  readonly button: string;
  readonly needs: (name: string) => Right;
  readonly onName: (name: string) => void;
}

/** The name of something new; what it is made of is asked on its own page. */
export function NewByName({ label, button, needs, onName }: NewByNameProps) {
  const [name, setName] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onName(name.trim());
      }}
    >
      <Group gap="xs">
        <TextInput
          size="xs"
          aria-label={label}
          placeholder={label}
          value={name}
          autoComplete="off"
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <ActionButton type="submit" needs={name.trim() === '' ? undefined : needs(name.trim())}>
          {button}
        </ActionButton>
      </Group>
    </form>
  );
}
