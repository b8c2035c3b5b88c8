import { MountsOfType } from '../../parts/mounts-of-type.tsx';

export default function AccountsPage() {
  return (
    <MountsOfType title="Cloud" type="aws" to="/aws/$mount">
      An AWS mount lends keys and sessions for an hour, and rotates the keys of users that stay. There is none that this token can reach.
    </MountsOfType>
  );
}
