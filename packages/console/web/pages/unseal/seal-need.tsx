import { Card } from '../login/card.tsx';
import { InitForm } from './init-form.tsx';
import { NewKeysList } from './new-keys-list.tsx';
import type { NewKeys } from './new-keys.ts';
import type { SealStatus } from './seal-status.ts';
import { UnsealForm } from './unseal-form.tsx';

interface SealNeedProps {
  readonly status: SealStatus;
  /** Made a moment ago, and not stored yet. */
  readonly keys: NewKeys | undefined;
  readonly made: (keys: NewKeys) => void;
  readonly stored: () => void;
}

/** What a server needs before it can serve: keys that are stored, keys at all, or its shares. */
export default function SealNeed({ status, keys, made, stored }: SealNeedProps) {
  if (keys) {
    return (
      <Card title="Store the keys" wide>
        <NewKeysList keys={keys} done={stored} label={status.sealed ? 'Go on to unseal' : 'Go on to the login'} />
      </Card>
    );
  }
  if (!status.initialized) {
    return (
      <Card title="Initialize the server">
        <InitForm status={status} done={made} />
      </Card>
    );
  }
  return (
    <Card title={status.migration ? 'The seal is to be migrated' : 'The server is sealed'}>
      <UnsealForm status={status} />
    </Card>
  );
}
