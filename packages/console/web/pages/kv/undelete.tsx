import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { versionsPath } from './kv-mount.ts';
import { secretChanged, type SecretPart } from './secret.ts';

/** Makes deleted versions readable again. */
export function Undelete({ mount, secret, versions }: SecretPart & { readonly versions: readonly number[] }) {
  const client = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const undelete = async (): Promise<void> => {
    try {
      await send('POST', versionsPath(mount, 'undelete', secret), { body: { versions } });
      await secretChanged(client, mount, secret);
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <>
      <ActionButton
        variant="default"
        needs={{ path: `${mount.path}/undelete/${secret}`, need: ['update', 'create'] }}
        onClick={() => void undelete()}
      >
        {versions.length === 1 ? `Undelete version ${versions[0]}` : `Undelete ${versions.length} versions`}
      </ActionButton>
      {error && <ServerError error={error} />}
    </>
  );
}
