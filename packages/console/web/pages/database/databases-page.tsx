import { MountsOfType } from '../../parts/mounts-of-type.tsx';

export default function DatabasesPage() {
  return (
    <MountsOfType title="Databases" type="database" to="/database/$mount">
      A database mount makes users for an hour, and rotates the passwords of users that stay. There is none that this token can reach.
    </MountsOfType>
  );
}
