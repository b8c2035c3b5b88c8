import { useRead } from './queries.ts';

export interface MountShown {
  /** Without the closing slash. */
  readonly path: string;
  readonly type: string;
  readonly accessor: string;
  readonly description: string;
}

interface Listed {
  readonly type: string;
  readonly accessor?: string;
  readonly description: string;
}

/** The mounts that the token can reach, of some types. */
export function useMounts(kind: 'secret' | 'auth', types?: readonly string[]) {
  const mounts = useRead<Record<'secret' | 'auth', Record<string, Listed>>>('sys/internal/ui/mounts');
  const data = mounts.data && {
    mounts: Object.entries(mounts.data.data[kind])
      .filter(([, { type }]) => types?.includes(type) ?? true)
      .map(([path, { type, accessor = '', description }]): MountShown => ({ path: path.replace(/\/$/, ''), type, accessor, description }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
  return { ...mounts, data };
}
