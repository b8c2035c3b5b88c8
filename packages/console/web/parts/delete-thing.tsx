import type { ReactNode } from 'react';
import { apiPath } from '../api/api-path.ts';
import { makeStale, queryClient } from '../api/queries.ts';
import { send } from '../api/send.ts';
import { ConfirmAction } from './confirm-action.tsx';

interface DeleteThingProps {
  /** What is deleted, as people write it: `db/roles/report`. */
  readonly path: string;
  /** What must be typed. */
  readonly name: string;
  readonly label?: string;
  readonly stale: readonly string[];
  /** Where to go when it is gone. */
  readonly done: () => void;
  /** What will be lost. */
  readonly children: ReactNode;
}

/** Deletes a thing after its name was typed. */
export function DeleteThing({ path, name, label = `Delete ${name}`, stale, done, children }: DeleteThingProps) {
  return (
    <ConfirmAction
      label={label}
      typed={name}
      needs={{ path, need: 'delete' }}
      act={async () => {
        await send('DELETE', apiPath(path));
        done();
        await makeStale(queryClient, stale);
      }}
    >
      {children}
    </ConfirmAction>
  );
}
