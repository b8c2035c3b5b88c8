import { To } from '../../parts/to.tsx';

/** A policy, as a link to it. */
export function PolicyName({ name }: { readonly name: string }) {
  return (
    <To to="/access/policies/$name" params={{ name }}>
      {name}
    </To>
  );
}

/** A group, as a link to it; by its id where the name is not known. */
export function GroupName({ id, name }: { readonly id: string; readonly name: string | undefined }) {
  return (
    <To to="/access/groups/$id" params={{ id }}>
      {name ?? id}
    </To>
  );
}
