import { apiPath } from '../../api/api-path.ts';
import { IssuedCredential } from '../../parts/issued-credential.tsx';

/** Makes a user of a role for whoever asks. */
export function BorrowUser({ mount, name }: { readonly mount: string; readonly name: string }) {
  return (
    <IssuedCredential
      label="Borrow a user"
      path={apiPath(mount, 'creds', name)}
      needs={{ path: `${mount}/creds/${name}`, need: 'read' }}
      plain={['username', 'private_key_type']}
      oncePerKey
      stale={['sys/leases']}
    />
  );
}
