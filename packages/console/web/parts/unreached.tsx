import type { ReactNode } from 'react';
import { Empty } from './empty.tsx';
import { To } from './to.tsx';

interface UnreachedProps {
  /** What the token would have to reach; as people write it. */
  readonly path: string;
  /** Default: read. */
  readonly operation?: string;
  readonly children: ReactNode;
}

/** What is not there, or what the token does not reach: the server does not tell the two apart. Leads to the rule that decides. */
export function Unreached({ path, operation = 'read', children }: UnreachedProps) {
  return (
    <Empty
      action={
        <To to="/access/try" search={{ path, operation }}>
          Which rule decides
        </To>
      }
    >
      {children}
    </Empty>
  );
}
