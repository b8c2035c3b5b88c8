import { To } from '../../parts/to.tsx';

/** The connection of a role. */
export function ConnectionLink({ mount, name }: { readonly mount: string; readonly name: string }) {
  return (
    <To to="/database/$mount/connections/$name" params={{ mount, name }}>
      {name}
    </To>
  );
}
